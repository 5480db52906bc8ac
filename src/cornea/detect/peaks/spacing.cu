// SPDX-License-Identifier: Apache-2.0
// The minimum distance between points on CUDA. A point is decided as soon as all stronger points
// near it are: it is dropped if one of them is kept, and kept otherwise. The result equals that of
// the greedy algorithm from the strongest point down, whatever the order of execution.
#include "cornea/core/cuda.h"
#include "cornea/core/device_selection.h"
#include "cornea/core/stack.h"
#include "cornea/detect/peaks/device_peaks.h"
#include "cornea/detect/peaks/spacing.h"

namespace cornea::peaks {
namespace {

using namespace core;

constexpr int kThreads = 128, kBlocks = 256;
// A few rounds with all blocks decide nearly all points; then one block per frame decides the rest.
constexpr int kRounds = 4;
constexpr std::uint8_t kDropped = 0, kKept = 1, kOpen = 2;

// The points of each frame in reading order of their pixels, by cells of the grid.
template <class R>
struct SpotLists {
  DeviceView<const R> first;
  const std::uint32_t* pixels;
  const Corner* spots;
  const std::uint32_t* counts;
  std::size_t capacity;  // distance between the lists of two frames
  SpacingGrid grid;
  double distance;

  __device__ std::uint32_t count(int frame) const { return counts[frame]; }
  __device__ const Corner& spot(int frame, std::uint32_t i) const {
    return spots[frame * capacity + i];
  }
  __device__ std::uint32_t cell(int frame, std::uint32_t i) const {
    return grid.row(spot(frame, i)) * grid.across + grid.column(spot(frame, i));
  }
  __device__ bool goes_first(int frame, std::uint32_t a, std::uint32_t b) const {
    const auto map = frame_of(first, frame);
    const std::uint32_t p = pixels[frame * capacity + a], q = pixels[frame * capacity + b];
    const R va = map(p % map.width, p / map.width), vb = map(q % map.width, q / map.width);
    return va != vb ? va > vb : a < b;
  }
};

template <class R>
__device__ std::uint8_t settle(const SpotLists<R>& lists, const CellBuckets& buckets, int frame,
                               std::uint32_t i) {
  const volatile std::uint8_t* state = buckets.keep + frame * buckets.capacity;
  const std::uint32_t* items = buckets.items + frame * buckets.capacity;
  const SpacingGrid& grid = lists.grid;
  const Corner spot = lists.spot(frame, i);
  const int column = grid.column(spot), row = grid.row(spot);
  std::uint8_t result = kKept;
  for (int y = max(row - 1, 0); y <= min(row + 1, grid.down - 1); ++y) {
    for (int x = max(column - 1, 0); x <= min(column + 1, grid.across - 1); ++x) {
      const std::size_t cell = std::size_t(frame) * buckets.cells + y * grid.across + x;
      const std::uint32_t begin = buckets.begin[cell], end = begin + buckets.counts[cell];
      for (std::uint32_t k = begin; k < end; ++k) {
        const std::uint32_t j = items[k];
        if (j == i || !are_near(spot, lists.spot(frame, j), lists.distance)) continue;
        const std::uint8_t other = state[j];
        if (other == kDropped || !lists.goes_first(frame, j, i)) continue;
        if (other == kKept) return kDropped;
        result = kOpen;
      }
    }
  }
  return result;
}

// Returns true if the point is still undecided.
template <class R>
__device__ bool settle_if_open(const SpotLists<R>& lists, const CellBuckets& buckets, int frame,
                               std::uint32_t i) {
  volatile std::uint8_t* state = buckets.keep + frame * buckets.capacity;
  if (state[i] != kOpen) return false;
  const std::uint8_t settled = settle(lists, buckets, frame, i);
  if (settled != kOpen) state[i] = settled;
  return settled == kOpen;
}

template <class R>
__global__ void __launch_bounds__(kThreads)
    round_kernel(const __grid_constant__ SpotLists<R> lists, CellBuckets buckets) {
  const int frame = blockIdx.y;
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < lists.count(frame);
       i += gridDim.x * kThreads) {
    settle_if_open(lists, buckets, frame, i);
  }
}

template <class R>
__global__ void __launch_bounds__(kSelectThreads)
    finish_kernel(const __grid_constant__ SpotLists<R> lists, CellBuckets buckets) {
  const int frame = blockIdx.x;
  bool open = true;
  while (__syncthreads_or(open)) {
    open = false;
    for (std::uint32_t i = threadIdx.x; i < lists.count(frame); i += kSelectThreads) {
      open |= settle_if_open(lists, buckets, frame, i);
    }
  }
}

// Compacts the kept points, in the same order.
__global__ void __launch_bounds__(kSelectThreads)
    compact_kernel(const std::uint8_t* keep, const std::uint32_t* pixels, const Corner* spots,
                   std::size_t capacity, const std::uint32_t* found, std::uint32_t* kept_pixels,
                   Corner* kept_spots, std::uint32_t* kept) {
  const int frame = blockIdx.x;
  const std::size_t base = frame * capacity;
  const std::uint32_t count = keep_in_order(
      found[frame], 0, [&](std::uint32_t i) { return std::uint32_t(keep[base + i]); },
      [](std::uint32_t) { return 0.0f; },
      [&](std::uint32_t i, std::uint32_t, std::uint32_t at) {
        kept_pixels[base + at] = pixels[base + i];
        kept_spots[base + at] = spots[base + i];
      });
  if (threadIdx.x == 0) kept[frame] = count;
}

}  // namespace

void DevicePeaks::prepare_spacing(int width, int height, int frames) {
  const SpacingGrid grid(width, height, spacing_of(options_));
  near_.prepare(context_, frames, std::uint32_t(grid.across) * grid.down, pixel_capacity_);
  spots_.reserve<Corner>(context_, pixel_capacity_ * frames);
  spaced_spots_.reserve<Corner>(context_, pixel_capacity_ * frames);
  spaced_pixels_.reserve<std::uint32_t>(context_, pixel_capacity_ * frames);
  spaced_.reserve<std::uint32_t>(context_, frames);
}

template <class R>
void DevicePeaks::space(DeviceView<const R> first, int frames) {
  const cudaStream_t stream = cuda_stream(context_);
  const double distance = spacing_of(options_);
  const SpotLists<R> lists{first,
                           pixels_.data<std::uint32_t>(),
                           spots_.data<Corner>(),
                           found_.data<std::uint32_t>(),
                           pixel_capacity_,
                           SpacingGrid(first.width, first.height, distance),
                           distance};
  const CellBuckets& buckets = near_.buckets();
  cuda_check(cudaMemsetAsync(buckets.keep, kOpen, buckets.capacity * frames, stream),
             "opening points");
  enqueue_cell_buckets(stream, near_, frames, lists);
  for (int round = 0; round < kRounds; ++round) {
    round_kernel<R><<<dim3(kBlocks, frames), kThreads, 0, stream>>>(lists, buckets);
  }
  finish_kernel<R><<<frames, kSelectThreads, 0, stream>>>(lists, buckets);
  compact_kernel<<<frames, kSelectThreads, 0, stream>>>(
      near_.keep(), pixels_.data<std::uint32_t>(), spots_.data<Corner>(), pixel_capacity_,
      found_.data<std::uint32_t>(), spaced_pixels_.data<std::uint32_t>(),
      spaced_spots_.data<Corner>(), spaced_.data<std::uint32_t>());
  cuda_check_launch("peaks: minimum distance");
}

template void DevicePeaks::space(DeviceView<const float>, int);
template void DevicePeaks::space(DeviceView<const double>, int);

}  // namespace cornea::peaks
