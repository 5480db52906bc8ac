// SPDX-License-Identifier: Apache-2.0
// For .cu files only: reductions and prefix sums over the 32 threads of a warp. All lanes must take
// part.
#pragma once

#include <cuda_runtime.h>

namespace cornea::core {

inline constexpr int kWarp = 32;

// Returns the sum over all lanes in every lane.
template <class T>
__device__ T warp_sum(T v) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

// Returns the minimum over all lanes in every lane.
template <class T>
__device__ T warp_least(T v) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const T other = __shfl_xor_sync(~0u, v, step);
    v = other < v ? other : v;
  }
  return v;
}

// Inclusive prefix sum: the sum of the lanes up to and including this one.
template <class T>
__device__ T warp_running_sum(T v) {
  const int lane = threadIdx.x % kWarp;
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const T other = __shfl_up_sync(~0u, v, step);
    if (lane >= step) v += other;
  }
  return v;
}

}  // namespace cornea::core
