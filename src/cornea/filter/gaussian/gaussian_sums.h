// SPDX-License-Identifier: Apache-2.0
// The sums of the Gaussian blur on the CPU.
#pragma once

#include "cornea/core/isa.h"

namespace cornea::gaussian {

// out[x] = sum_k weight[k] tap[k][x], k = 0 .. taps - 1, for the columns from x to `width`, added
// in the order of k with a fused multiply-add per tap, starting from 0. Both passes are this sum:
// over shifted copies of a row, or over rows.
CORNEA_PER_ISA(void, weighted_sum,
               (const float* weight, int taps, const float* const* tap, int x, int width,
                float* out),
               (weight, taps, tap, x, width, out))

// The same sums, unrolled for one radius. They return the number of columns they computed;
// weighted_sum() computes the rest.
inline constexpr int kRowsAtOnce = 4;
struct Unrolled {
  // out[j] = sum_k weight[k] tap[j + k] for kRowsAtOnce rows j
  int (*rows)(const float* weight, const float* const* tap, int width, float* const* out);
  // out[x] = sum_k weight[k] row[x + k]
  int (*along)(const float* weight, const float* row, int width, float* out);
};
// Null for a radius without unrolled code.
CORNEA_PER_ISA(const Unrolled*, unrolled, (int radius), (radius))

}  // namespace cornea::gaussian
