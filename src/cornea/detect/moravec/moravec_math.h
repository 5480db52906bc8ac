// SPDX-License-Identifier: Apache-2.0
// Moravec's formulas that the CPU and CUDA share.
//
// The four pixels of a 2 x 2 quad whose first pixel is (x, y) give the squared differences of the
// four shifts right, down, diagonal and antidiagonal; with B_s(x, y) their sums over the w x w
// quads around (x, y),
//
//   response(x, y) = min( B_right(x, y),    B_right(x - 1, y),
//                         B_down(x, y),     B_down(x, y - 1),
//                         B_diagonal(x, y), B_diagonal(x - 1, y - 1),
//                         B_anti(x - 1, y), B_anti(x, y - 1) ).
#pragma once

#include <cstdint>
#include <type_traits>

#include "cornea/core/host_device.h"

namespace cornea::moravec {

// Wide enough for the sum of 15 x 15 squared differences.
template <class T>
using MoravecSum =
    std::conditional_t<std::is_same_v<T, std::uint8_t>, std::uint32_t, std::uint64_t>;

enum MoravecShift { kRight, kDown, kDiagonal, kAnti, kMoravecShifts };

template <class T>
CORNEA_HD inline MoravecSum<T> squared_difference(T a, T b) {
  const std::int32_t d = static_cast<std::int32_t>(a) - static_cast<std::int32_t>(b);
  const std::uint32_t u = static_cast<std::uint32_t>(d);
  return static_cast<std::uint32_t>(u * u);  // modulo 2^32; 65535^2 fits
}

// The squared difference of a shift in the quad (p00 p10 / p01 p11); p10 is to the right of p00.
template <int shift, class T>
CORNEA_HD inline MoravecSum<T> quad_difference(T p00, T p10, T p01, T p11) {
  if constexpr (shift == kRight) return squared_difference(p10, p00);
  if constexpr (shift == kDown) return squared_difference(p01, p00);
  if constexpr (shift == kDiagonal) return squared_difference(p11, p00);
  if constexpr (shift == kAnti) return squared_difference(p01, p10);
}

}  // namespace cornea::moravec
