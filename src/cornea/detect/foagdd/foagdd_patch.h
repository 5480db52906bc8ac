// SPDX-License-Identifier: Apache-2.0
// FOAGDD's exact measure from the derivatives around a few pixels in shared memory. Many threads
// sum each tensor, so that short lists have a low latency.
#pragma once

#include "cornea/detect/foagdd/foagdd_math.h"

namespace cornea::foagdd {

inline constexpr int kFoagddPatchSide = 2 * kFoagddDiscRadius + 1;

// The derivatives around a pixel, indexed by row, direction and column. With eight directions the
// accesses to four patches have no bank conflicts.
template <int n>
using FoagddPatch = float[kFoagddPatchSide][n][kFoagddPatchSide];
// A tensor. Its odd length avoids bank conflicts between threads that factor one tensor each.
template <int n>
using FoagddPatchTensor = double[foagdd_tensor_size(n) | 1];

// Sums 2 x 2 entries of a tensor, in the order of foagdd_tensor. These blocks are numbered like the
// entries of a triangular matrix.
template <int n>
inline constexpr int kFoagddSquares = foagdd_tensor_size((n + 1) / 2);
template <int n>
__device__ inline void foagdd_sum_square(const FoagddPatch<n>& patch, int square,
                                         FoagddPatchTensor<n>& tensor) {
  int row = 0;
  while (foagdd_tensor_index(row + 1, 0) <= square) ++row;
  const int i = 2 * row, j = 2 * (square - foagdd_tensor_index(row, 0));
  // With an odd number of directions the last one is computed twice.
  const int next_i = min(i + 1, n - 1), next_j = min(j + 1, n - 1);
  double sums[4] = {};
#pragma unroll
  for (int dx = -kFoagddDiscRadius; dx <= kFoagddDiscRadius; ++dx) {
    double column[4] = {};
#pragma unroll
    for (int step = 0; step <= 2 * foagdd_disc_half_height(dx); ++step) {
      const int y = kFoagddDiscRadius + foagdd_disc_step(step), x = kFoagddDiscRadius + dx;
      const double a = patch[y][i][x], next_a = patch[y][next_i][x];
      const double b = patch[y][j][x], next_b = patch[y][next_j][x];
      column[0] = fma(a, b, column[0]);
      column[1] = fma(next_a, b, column[1]);
      column[2] = fma(next_a, next_b, column[2]);
      column[3] = fma(a, next_b, column[3]);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) sums[k] += column[k];
  }
  tensor[foagdd_tensor_index(i, j)] = sums[0];
  tensor[foagdd_tensor_index(next_i, j)] = sums[1];
  tensor[foagdd_tensor_index(next_i, next_j)] = sums[2];
  if (i > j) tensor[foagdd_tensor_index(i, next_j)] = sums[3];
}

// The measure, with the operations of foagdd_measure(), by a group of lanes that each hold a row of
// the tensor. Warp collective; all lanes of a group get the result.
template <int n>
inline constexpr int kFoagddLanes = n <= 8 ? 8 : 16;
template <int n>
__device__ inline double foagdd_measure_by_lanes(const FoagddPatchTensor<n>& tensor) {
  const int i = min(int(threadIdx.x) % kFoagddLanes<n>, n - 1);
  double row[n], trace = 0, determinant = 1;
#pragma unroll
  for (int j = 0; j < n; ++j) row[j] = tensor[foagdd_tensor_index(i, min(i, j))];
#pragma unroll
  for (int k = 0; k < n; ++k) trace += tensor[foagdd_tensor_index(k, k)];
  bool singular = false;
#pragma unroll
  for (int k = 0; k < n; ++k) {
    const double pivot = __shfl_sync(~0u, row[k], k, kFoagddLanes<n>);
    singular |= !(pivot > 0);
    determinant *= pivot;
    const double l = row[k] * (1 / pivot);
#pragma unroll
    for (int j = k + 1; j < n; ++j) {
      row[j] = fma(-__shfl_sync(~0u, l, j, kFoagddLanes<n>), row[k], row[j]);
    }
  }
  return singular ? 0 : determinant / (trace + kFoagddEpsilon);
}

}  // namespace cornea::foagdd
