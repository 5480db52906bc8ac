// SPDX-License-Identifier: Apache-2.0
// For .cu files: stream compaction that preserves order. The output index of an item is the sum of
// the counts before it (a prefix sum), so the result does not depend on the order of atomics.
#pragma once

#include <cstdint>

#include "cornea/core/warp.h"

namespace cornea::core {

// Warp collective: returns counts[begin] + .. + counts[end - 1] in every lane.
template <class Count>
__device__ std::uint32_t warp_sum_of(const Count* counts, std::uint32_t begin, std::uint32_t end) {
  std::uint32_t sum = 0;
#pragma unroll 4
  for (std::uint32_t i = begin + threadIdx.x % kWarp; i < end; i += kWarp) sum += counts[i];
  return warp_sum(sum);
}

// Warp collective: calls emit(bit, place) for every set bit of an array of words, in order. Places
// count up from the given one.
template <class Emit>
__device__ void gather_marks(const std::uint32_t* words, int count, std::uint32_t place,
                             const Emit& emit) {
  const int lane = threadIdx.x % kWarp;
  for (int base = 0; base < count; base += kWarp) {
    std::uint32_t bits = base + lane < count ? words[base + lane] : 0;
    const int mine = __popc(bits);
    // Number of set bits up to and including this lane's word.
    const int through = warp_running_sum(mine);
    std::uint32_t at = place + through - mine;
    for (; bits; bits &= bits - 1) emit((base + lane) * kWarp + __ffs(bits) - 1, at++);
    place += __shfl_sync(~0u, through, kWarp - 1);
  }
}

}  // namespace cornea::core
