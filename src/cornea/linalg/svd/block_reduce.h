// SPDX-License-Identifier: Apache-2.0
// For .cu files only: sum and maximum over a block that consists of whole warps.
#pragma once

#include "cornea/core/warp.h"

namespace cornea::svd {

inline constexpr int kMostWarps = 32;

// Returns the sum over all threads to every thread; the order of the additions is fixed. `scratch`
// has room for kMostWarps numbers.
template <class T>
__device__ T block_sum(T v, T* scratch) {
  v = core::warp_sum(v);
  const int warps = blockDim.x / core::kWarp, warp = threadIdx.x / core::kWarp;
  if (warps == 1) return v;
  __syncthreads();  // the previous sum may still be read
  if (threadIdx.x % core::kWarp == 0) scratch[warp] = v;
  __syncthreads();
  T sum = scratch[0];
  for (int i = 1; i < warps; ++i) sum += scratch[i];
  return sum;
}

// The largest value and the smallest index that has it, returned to every thread.
template <class T>
struct Largest {
  T value;
  int index;
};

template <class T>
__device__ Largest<T> larger_of(const Largest<T>& a, const Largest<T>& b) {
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

template <class T>
__device__ Largest<T> block_largest(Largest<T> v, Largest<T>* scratch) {
#pragma unroll
  for (int step = core::kWarp / 2; step > 0; step /= 2) {
    const Largest<T> other{__shfl_xor_sync(~0u, v.value, step),
                           __shfl_xor_sync(~0u, v.index, step)};
    v = larger_of(v, other);
  }
  const int warps = blockDim.x / core::kWarp, warp = threadIdx.x / core::kWarp;
  if (warps == 1) return v;
  __syncthreads();
  if (threadIdx.x % core::kWarp == 0) scratch[warp] = v;
  __syncthreads();
  Largest<T> best = scratch[0];
  for (int i = 1; i < warps; ++i) best = larger_of(best, scratch[i]);
  return best;
}

// Shared memory for both reductions.
template <class T>
union ReduceMemory {
  T sums[kMostWarps];
  Largest<T> largest[kMostWarps];
};

}  // namespace cornea::svd
