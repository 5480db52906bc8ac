// For .cu files: which of many values are the N largest, found by a block without sorting them.
#pragma once

#include <cstdint>

namespace cornea {

// The smallest value that is kept, and how many of the values equal to it find room.
template <class Bits>
struct LastKept {
  Bits value;
  std::uint32_t room;
};

// Finds the bits of the count-th largest value, eight at a time from the top, by counting digits.
// Every thread of the block calls it; for_each_value(f) hands f the values that this thread looks
// after. There are more than `count` values in all.
template <class Bits, class ForEachValue>
__device__ LastKept<Bits> find_last_kept(std::uint32_t count, ForEachValue&& for_each_value) {
  constexpr int kDigits = 256, kBits = int(sizeof(Bits)) * 8;
  __shared__ std::uint32_t histogram[kDigits];
  __shared__ LastKept<Bits> last;
  if (threadIdx.x == 0) last = {0, count};
  for (int shift = kBits - 8; shift >= 0; shift -= 8) {
    for (int i = threadIdx.x; i < kDigits; i += blockDim.x) histogram[i] = 0;
    __syncthreads();
    // Digits above this one, of the value that is being found; a shift by all bits would be
    // undefined.
    auto above = [&](Bits v) { return shift + 8 == kBits ? Bits(0) : Bits(v >> (shift + 8)); };
    const Bits known = above(last.value);
    for_each_value([&](Bits v) {
      if (above(v) == known) atomicAdd(&histogram[(v >> shift) & (kDigits - 1)], 1u);
    });
    __syncthreads();
    if (threadIdx.x == 0) {
      int digit = kDigits - 1;
      while (histogram[digit] < last.room) last.room -= histogram[digit--];
      last.value |= Bits(digit) << shift;
    }
    __syncthreads();
  }
  return last;
}

}  // namespace cornea
