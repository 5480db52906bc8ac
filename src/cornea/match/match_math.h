// SPDX-License-Identifier: Apache-2.0
// Formulas of matching that both devices use.
#pragma once

#include <cmath>
#include <cstdint>

#include "cornea/core/features.h"
#include "cornea/core/host_device.h"
#include "cornea/match/match.h"

namespace cornea::match {

// Keys. Within a row (one a, many b) distances are ordered by |b|^2 - 2 a.b, within a column by
// |a|^2 - 2 a.b, because the omitted term is constant. Both lie within +-128 * 255^2, which takes
// 24 bits with the sign and leaves 8 bits of a 32-bit key for an index:
//
//   key = value * 256 + index % 256 = base - 512 a.b,    base = |b|^2 * 256 + index % 256
//
// so that the smallest key of up to 256 consecutive neighbours is the nearest, and ties go to the
// lowest index.
inline constexpr int kKeyIndexBits = 8;
inline constexpr int kKeyIndices = 1 << kKeyIndexBits;
inline constexpr std::int32_t kProductScale = 2 * kKeyIndices;
// Larger than the key of every pair; used for padding.
inline constexpr std::int32_t kNoKey = INT32_MAX;
inline constexpr std::int32_t kLargestValue = Features::kLength * 255 * 255;
static_assert(std::int64_t(kLargestValue + 1) * kKeyIndices <= INT32_MAX);

CORNEA_HD inline std::int32_t key_base(std::int32_t squared_norm, int index) {
  return squared_norm * kKeyIndices + index % kKeyIndices;
}
// Unsigned arithmetic, because the product alone may exceed 2^31.
CORNEA_HD inline std::int32_t key_of(std::int32_t base, std::int32_t product) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(base) -
                                   kProductScale * static_cast<std::uint32_t>(product));
}
CORNEA_HD inline std::int32_t key_value(std::int32_t key) { return key >> kKeyIndexBits; }
CORNEA_HD inline std::int32_t key_index(std::int32_t key) { return key & (kKeyIndices - 1); }

// The nearest row of a column so far: squared distance in the upper bits, then the index, so that
// an atomic minimum gives the result in any order.
using ColumnBest = std::uint64_t;
inline constexpr ColumnBest kNoColumnBest = UINT64_MAX;
CORNEA_HD inline ColumnBest column_best(std::int32_t d2, std::int32_t index) {
  return std::uint64_t(std::uint32_t(d2)) << 32 | std::uint32_t(index);
}
CORNEA_HD inline std::int32_t column_index(ColumnBest best) {
  return static_cast<std::int32_t>(best & 0xFFFFFFFFu);
}

// Inserts a neighbour into the two nearest. The neighbours of a row may come in any order.
CORNEA_HD inline void enter_neighbour(Nearest& n, std::int32_t d2, std::int32_t index) {
  const bool first = d2 < n.d2 || (d2 == n.d2 && index < n.index);
  const bool second = d2 < n.second_d2 || (d2 == n.second_d2 && index < n.second);
  if (first) {
    n.second = n.index;
    n.second_d2 = n.d2;
    n.index = index;
    n.d2 = d2;
  } else if (second) {
    n.second = index;
    n.second_d2 = d2;
  }
}

// The options that the tests need.
struct MatchTests {
  float ratio, max_distance;
  bool mutual;
};

// Every operation is correctly rounded, so that all devices give the same bits.
CORNEA_HD inline float distance_of(std::int32_t d2) { return sqrtf(static_cast<float>(d2)); }

// 0 if there is no second neighbour, and 1 if both distances are 0.
CORNEA_HD inline float ratio_of(const Nearest& n) {
  if (n.second < 0) return 0;
  if (n.second_d2 == 0) return 1;
  return distance_of(n.d2) / distance_of(n.second_d2);
}

// d1 < r d2, evaluated as d1^2 < r^2 d2^2: r^2 is exact in double, and the product is rounded once.
CORNEA_HD inline bool passes_ratio(const Nearest& n, float ratio) {
  if (ratio >= 1 || n.second < 0) return true;
  const double r = ratio;
  return n.d2 < r * r * n.second_d2;
}

// The tests of a row; `nearest_to_b` is the nearest descriptor of A to the row's nearest neighbour.
CORNEA_HD inline bool is_match(const Nearest& n, std::int32_t a, std::int32_t nearest_to_b,
                               const MatchTests& tests) {
  return n.index >= 0 && (!tests.mutual || nearest_to_b == a) && passes_ratio(n, tests.ratio) &&
         (tests.max_distance == 0 || distance_of(n.d2) <= tests.max_distance);
}

CORNEA_HD inline Match match_of(const Nearest& n, std::int32_t a) {
  return {a, n.index, distance_of(n.d2), ratio_of(n)};
}

}  // namespace cornea::match
