// SPDX-License-Identifier: Apache-2.0
// For the tile_*.cc files only; like tile_walk.h it is compiled separately in each: eight 32-bit
// lanes of AVX2, one row and eight columns.
#pragma once

#include <cstdint>

#include <immintrin.h>

#include "cornea/match/match_math.h"

namespace cornea::match {
namespace {

struct Avx2Lanes {
  using Vector = __m256i;
  static constexpr int kLanes = 8, kRowsPerVector = 1, kColumnsPerVector = 8;

  static Vector load(const std::int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void store(std::int32_t* p, Vector v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  static Vector same(std::int32_t v) { return _mm256_set1_epi32(v); }
  static Vector min(Vector a, Vector b) { return _mm256_min_epi32(a, b); }
  static Vector max(Vector a, Vector b) { return _mm256_max_epi32(a, b); }
  static Vector spread_rows(const std::int32_t* p) { return _mm256_set1_epi32(*p); }
  static Vector spread_columns(const std::int32_t* p) { return load(p); }
  static Vector minus_scaled(Vector base, Vector product) {
    return _mm256_sub_epi32(base, _mm256_slli_epi32(product, kKeyIndexBits + 1));
  }
};

}  // namespace
}  // namespace cornea::match
