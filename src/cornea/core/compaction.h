// For .cu files: stream compaction, marked items gathered in their order. No atomic decides an
// order: the place of an item is a sum of the counts before it.
#pragma once

#include <cstdint>

#include "cornea/core/warp.h"

namespace cornea::core {

// By a warp: counts[begin] + .. + counts[end - 1], in every lane.
template <class Count>
__device__ std::uint32_t warp_sum_of(const Count* counts, std::uint32_t begin, std::uint32_t end) {
  std::uint32_t sum = 0;
#pragma unroll 4
  for (std::uint32_t i = begin + threadIdx.x % kWarp; i < end; i += kWarp) sum += counts[i];
  return warp_sum(sum);
}

// By a warp: emit(bit, place) for every bit that is set in a row of words, in order, the first with
// the given place.
template <class Emit>
__device__ void gather_marks(const std::uint32_t* words, int count, std::uint32_t place,
                             const Emit& emit) {
  const int lane = threadIdx.x % kWarp;
  for (int base = 0; base < count; base += kWarp) {
    std::uint32_t bits = base + lane < count ? words[base + lane] : 0;
    const int mine = __popc(bits);
    const int through = warp_running_sum(mine);  // marks in the words up to this lane's
    std::uint32_t at = place + through - mine;
    for (; bits; bits &= bits - 1) emit((base + lane) * kWarp + __ffs(bits) - 1, at++);
    place += __shfl_sync(~0u, through, kWarp - 1);
  }
}

}  // namespace cornea::core
