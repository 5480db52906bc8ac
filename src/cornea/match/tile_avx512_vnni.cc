// SPDX-License-Identifier: Apache-2.0
// AVX-512 VNNI: four bytes of one row times four of each of sixteen columns (VPDPBUSD). The
// instruction takes signed bytes on one side.
#include "cornea/match/tile_kernel.h"

#if defined(__x86_64__) && defined(__AVX512VNNI__)

#include <immintrin.h>

#include "cornea/match/tile_walk.h"

namespace cornea::match {
namespace {

struct Avx512Vnni {
  using Vector = __m512i;  // one row, sixteen columns
  static constexpr int kLanes = 16, kRowsPerVector = 1, kColumnsPerVector = 16;
  static constexpr int kRows = 8, kColumns = 32, kRowVectors = 8, kColumnVectors = 2;
  using Packed = std::uint8_t;
  static constexpr int kGroup = 4;
  static constexpr bool kSigned = true;

  static Vector load(const std::int32_t* p) { return _mm512_loadu_si512(p); }
  static void store(std::int32_t* p, Vector v) { _mm512_storeu_si512(p, v); }
  static Vector same(std::int32_t v) { return _mm512_set1_epi32(v); }
  static Vector min(Vector a, Vector b) { return _mm512_min_epi32(a, b); }
  static Vector max(Vector a, Vector b) { return _mm512_max_epi32(a, b); }
  static Vector spread_rows(const std::int32_t* p) { return _mm512_set1_epi32(*p); }
  static Vector spread_columns(const std::int32_t* p) { return load(p); }
  static Vector minus_scaled(Vector base, Vector product) {
    return _mm512_sub_epi32(base, _mm512_slli_epi32(product, kKeyIndexBits + 1));
  }

  static void multiply(const std::uint8_t* a, const std::int32_t* a_offset, const std::uint8_t* b,
                       Vector (&products)[8][2]) {
    __m512i sums[8][2];
    for (int r = 0; r < 8; ++r) sums[r][0] = sums[r][1] = _mm512_set1_epi32(a_offset[r]);
    for (int k = 0; k < kLength / 4; ++k, a += 32, b += 128) {
      const __m512i b0 = _mm512_loadu_si512(b), b1 = _mm512_loadu_si512(b + 64);
      for (int r = 0; r < 8; ++r) {
        std::int32_t four;
        __builtin_memcpy(&four, a + 4 * r, 4);
        const __m512i row = _mm512_set1_epi32(four);
        sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], row, b0);
        sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], row, b1);
      }
    }
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < 2; ++c) products[r][c] = sums[r][c];
    }
  }
};

constexpr TileKernel kKernel = tile_kernel_of<Avx512Vnni>("avx512-vnni", [] {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vnni");
});

}  // namespace

const TileKernel* avx512_vnni_tile_kernel() { return &kKernel; }

}  // namespace cornea::match

#else

const cornea::match::TileKernel* cornea::match::avx512_vnni_tile_kernel() { return nullptr; }

#endif
