// SPDX-License-Identifier: Apache-2.0
// For .cu files: the selection rules of selection.h on CUDA, by radix selection instead of sorting.
#pragma once

#include <cstdint>

#include <cub/block/block_scan.cuh>

#include "cornea/core/cell_selection.h"
#include "cornea/core/cuda.h"
#include "cornea/core/ordered_bits.h"

namespace cornea::core {

// The smallest value that is kept, and how many of the values equal to it are kept.
template <class Bits>
struct LastKept {
  Bits value;
  std::uint32_t room;
};

// Block collective: finds the bits of the count-th largest value by radix selection, one 8-bit
// digit at a time from the most significant. for_each_value(f) calls f with the values that this
// thread is responsible for. There must be more than `count` values in total.
template <class Bits, class ForEachValue>
__device__ LastKept<Bits> find_last_kept(std::uint32_t count, ForEachValue&& for_each_value) {
  constexpr int kDigits = 256, kBits = int(sizeof(Bits)) * 8;
  __shared__ std::uint32_t histogram[kDigits];
  __shared__ LastKept<Bits> last;
  __syncthreads();  // the previous result may still be read
  if (threadIdx.x == 0) last = {0, count};
  for (int shift = kBits - 8; shift >= 0; shift -= 8) {
    for (int i = threadIdx.x; i < kDigits; i += blockDim.x) histogram[i] = 0;
    __syncthreads();
    // The digits above the current one, which are already known. Shifting by the full width would
    // be undefined.
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

inline constexpr int kSelectThreads = 1024;  // one block per list: the lists are short

// Block collective with kSelectThreads threads. Item i stands for number(i) >= 0 copies of
// value(i). Keeps the `most` largest values (0: all); ties keep the first. Calls emit(i, kept,
// before) with the number of copies of item i that are kept and the number kept of all items before
// it. Returns the total number kept.
template <class Number, class Value, class Emit>
__device__ std::uint32_t keep_in_order(std::uint32_t count, std::uint32_t most,
                                       const Number& number, const Value& value, const Emit& emit) {
  using Bits = decltype(ordered_bits(value(0)));
  using Scan = cub::BlockScan<std::uint32_t, kSelectThreads>;
  constexpr int kItems = 4;  // per thread and iteration
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint32_t total;
  constexpr std::uint32_t kAll = ~0u;
  LastKept<Bits> last{0, kAll};
  if (most > 0) {
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    std::uint32_t mine = 0;
    for (std::uint32_t i = threadIdx.x; i < count; i += kSelectThreads) mine += number(i);
    atomicAdd(&total, mine);
    __syncthreads();
    if (total > most) {
      last = find_last_kept<Bits>(most, [&](auto&& f) {
        for (std::uint32_t i = threadIdx.x; i < count; i += kSelectThreads) {
          for (std::uint32_t k = number(i); k > 0; --k) f(ordered_bits(value(i)));
        }
      });
    }
  }
  std::uint32_t before = 0, equals_before = 0;
  for (std::uint32_t base = 0; base < count; base += kSelectThreads * kItems) {
    std::uint32_t kept[kItems], equal[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const std::uint32_t i = base + threadIdx.x * kItems + k;
      const std::uint32_t n = i < count ? number(i) : 0;
      const Bits v = n > 0 && last.room != kAll ? ordered_bits(value(i)) : Bits(0);
      kept[k] = v > last.value || last.room == kAll ? n : 0;
      equal[k] = v == last.value && last.room != kAll ? n : 0;
    }
    if (last.room != kAll) {  // uniform over the block
      std::uint32_t place[kItems], sum;
      Scan(storage).ExclusiveSum(equal, place, sum);
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kItems; ++k) {
        const std::uint32_t at = equals_before + place[k];
        if (at < last.room) kept[k] += min(equal[k], last.room - at);
      }
      equals_before += sum;
    }
    std::uint32_t place[kItems], sum;
    Scan(storage).ExclusiveSum(kept, place, sum);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      if (kept[k] > 0) emit(base + threadIdx.x * kItems + k, kept[k], before + place[k]);
    }
    before += sum;
  }
  return before;
}

namespace cells {

inline constexpr int kThreads = 128, kBlocks = 512;

template <class Lists>
__global__ void __launch_bounds__(kThreads)
    count_kernel(const __grid_constant__ Lists lists, CellBuckets to) {
  const int frame = blockIdx.y;
  std::uint32_t* counts = to.counts + std::size_t(frame) * to.cells;
  const std::uint32_t count = lists.count(frame);
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < count;
       i += gridDim.x * kThreads) {
    atomicAdd(&counts[lists.cell(frame, i)], 1u);
  }
}

static __global__ void __launch_bounds__(kThreads) begin_kernel(CellBuckets to) {
  const int frame = blockIdx.y;
  for (std::uint32_t cell = blockIdx.x * kThreads + threadIdx.x; cell < to.cells;
       cell += gridDim.x * kThreads) {
    const std::size_t at = std::size_t(frame) * to.cells + cell;
    if (to.counts[at] > 0) to.begin[at] = atomicAdd(&to.next[frame], to.counts[at]);
  }
}

template <class Lists>
__global__ void __launch_bounds__(kThreads)
    place_kernel(const __grid_constant__ Lists lists, CellBuckets to) {
  const int frame = blockIdx.y;
  const std::uint32_t count = lists.count(frame);
  std::uint32_t* items = to.items + frame * to.capacity;
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < count;
       i += gridDim.x * kThreads) {
    const std::size_t cell = std::size_t(frame) * to.cells + lists.cell(frame, i);
    items[to.begin[cell] + atomicAdd(&to.placed[cell], 1u)] = i;
  }
}

// Each block handles one cell at a time.
template <class Lists>
__global__ void __launch_bounds__(kThreads)
    keep_kernel(const __grid_constant__ Lists lists, std::uint32_t most, CellBuckets from) {
  using Bits = decltype(ordered_bits(lists.value(0, 0)));
  __shared__ std::uint32_t equals;
  const int frame = blockIdx.y;
  std::uint8_t* keep = from.keep + frame * from.capacity;
  for (std::uint32_t cell = blockIdx.x; cell < from.cells; cell += gridDim.x) {
    const std::size_t at = std::size_t(frame) * from.cells + cell;
    const std::uint32_t count = from.counts[at];
    if (count == 0) continue;
    const std::uint32_t* items = from.items + frame * from.capacity + from.begin[at];
    auto for_each = [&](auto&& f) {
      for (std::uint32_t k = threadIdx.x; k < count; k += kThreads) f(items[k]);
    };
    if (count <= most) {
      for_each([&](std::uint32_t i) { keep[i] = 1; });
      continue;
    }
    auto bits = [&](std::uint32_t i) { return ordered_bits(lists.value(frame, i)); };
    const LastKept<Bits> last = find_last_kept<Bits>(
        most, [&](auto&& f) { for_each([&](std::uint32_t i) { f(bits(i)); }); });
    // Among the values equal to the last one kept, the first items are kept: those with the largest
    // ~i.
    if (threadIdx.x == 0) equals = 0;
    __syncthreads();
    for_each([&](std::uint32_t i) {
      if (bits(i) == last.value) atomicAdd(&equals, 1u);
    });
    __syncthreads();
    std::uint32_t least = 0;  // smallest ~i that is kept
    if (equals > last.room) {
      least = find_last_kept<std::uint32_t>(last.room, [&](auto&& f) {
                for_each([&](std::uint32_t i) {
                  if (bits(i) == last.value) f(~i);
                });
              }).value;
    }
    for_each([&](std::uint32_t i) {
      const Bits v = bits(i);
      keep[i] = v > last.value || (v == last.value && ~i >= least);
    });
    __syncthreads();
  }
}

}  // namespace cells

// Queues the binning of items into one bucket per grid cell, for which `selection` must be
// prepared. The lists, one per frame, are a struct with
//   std::uint32_t count(int frame), the number of items
//   std::uint32_t cell(int frame, std::uint32_t i), the index of an item's cell
// both of them __device__ and const. The position of a bucket and the order within it depend on the
// order of atomics.
template <class Lists>
void enqueue_cell_buckets(cudaStream_t stream, const CellSelection& selection, int frames,
                          const Lists& lists) {
  const CellBuckets& buckets = selection.buckets();
  cuda_check(
      cudaMemsetAsync(buckets.counters, 0, buckets.counter_count * sizeof(std::uint32_t), stream),
      "clearing cells");
  const dim3 grid(cells::kBlocks, frames);
  cells::count_kernel<<<grid, cells::kThreads, 0, stream>>>(lists, buckets);
  cells::begin_kernel<<<grid, cells::kThreads, 0, stream>>>(buckets);
  cells::place_kernel<<<grid, cells::kThreads, 0, stream>>>(lists, buckets);
  cuda_check_launch("buckets by cell");
}

// Queues the cap per grid cell: the `most` strongest items of each cell are kept, whatever their
// order in the bucket. The lists also have
//   V value(int frame, std::uint32_t i), the strength of an item, float or double
template <class Lists>
void enqueue_cell_selection(cudaStream_t stream, const CellSelection& selection, int frames,
                            std::uint32_t most, const Lists& lists) {
  enqueue_cell_buckets(stream, selection, frames, lists);
  cells::keep_kernel<<<dim3(cells::kBlocks, frames), cells::kThreads, 0, stream>>>(
      lists, most, selection.buckets());
  cuda_check_launch("cap by cell");
}

}  // namespace cornea::core
