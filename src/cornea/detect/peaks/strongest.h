// SPDX-License-Identifier: Apache-2.0
// For .cu files: the largest response per frame, as ordered bits that start at 0. A maximum does
// not depend on the order of atomics.
#pragma once

#include <cstdint>

#include "cornea/core/image.h"
#include "cornea/core/stack.h"
#include "cornea/detect/peaks/peaks_math.h"

namespace cornea::peaks {

__device__ inline void raise_to(std::uint32_t* at, std::uint32_t v) { atomicMax(at, v); }
__device__ inline void raise_to(std::uint64_t* at, std::uint64_t v) {
  atomicMax(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(v));
}

// Warp collective; each lane passes the largest response that it has seen.
template <class R>
__device__ void raise_strongest(R largest, core::OrderedBits<R>* strongest) {
  core::OrderedBits<R> bits = core::ordered_bits(largest);
  for (int step = 16; step > 0; step /= 2) {
    const core::OrderedBits<R> other = __shfl_xor_sync(~0u, bits, step);
    bits = other > bits ? other : bits;
  }
  if (threadIdx.x % 32 == 0) raise_to(strongest, bits);
}

}  // namespace cornea::peaks
