// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cub/block/block_reduce.cuh>

#include "cornea/core/compaction.h"
#include "cornea/core/cuda.h"
#include "cornea/core/device_selection.h"
#include "cornea/core/warp.h"
#include "cornea/detect/peaks/device_peaks.h"
#include "cornea/detect/peaks/peaks_math.h"
#include "cornea/detect/peaks/strongest.h"

namespace cornea::peaks {
namespace {

using namespace core;

constexpr int kMarkThreads = 256;  // one block per row: a row of 1920 pixels takes 8 iterations
// Points per frame in pinned memory; those beyond are copied when they are fetched.
constexpr std::size_t kPinnedPoints = 1 << 16;
constexpr int kGatherRows = 8;  // rows per block, one warp each

__device__ bool allowed(DeviceView<const std::uint8_t> mask, int x, int y) {
  return mask.data == nullptr || mask(x, y) != 0;
}

// The largest response of the region; one block per row.
template <class R>
__global__ void strongest_kernel(DeviceView<const R> first, Region region,
                                 DeviceView<const std::uint8_t> mask, OrderedBits<R>* strongest) {
  const auto map = frame_of(first, blockIdx.y);
  const int y = region.top + blockIdx.x;
  R best = -INFINITY;
  for (int x = region.left + threadIdx.x; x < region.right; x += kMarkThreads) {
    if (allowed(mask, x, y)) best = max(best, map(x, y));
  }
  raise_strongest(best, strongest + blockIdx.y);
}

// A cheap necessary test: above the cutoff, and no horizontal or vertical neighbour is larger. Few
// pixels pass it and need the full test. It has no branches, so that its loads overlap.
template <class R>
__device__ bool may_be_peak(const R* above, const R* row, const R* below, int x, int width,
                            R cutoff, bool suppress) {
  const R v = __ldg(row + x), l = __ldg(row + max(x - 1, 0)),
          r = __ldg(row + min(x + 1, width - 1));
  const R a = __ldg(above + x), b = __ldg(below + x);
  return v > cutoff && (!suppress || !(l > v || r > v || a > v || b > v));  // NaN is not larger
}

// The full test without a branch, for a pixel whose square lies inside the map.
template <int radius, class R>
__device__ bool is_inner_maximum(const DeviceView<const R>& map, int x, int y,
                                 bool first_of_equals) {
  const R* centre = map.row(y) + x;
  const R v = *centre;
  R earlier = -INFINITY, later = -INFINITY;
#pragma unroll
  for (int j = -radius; j <= radius; ++j) {
#pragma unroll
    for (int i = -radius; i <= radius; ++i) {
      if (i == 0 && j == 0) continue;
      const R other = __ldg(centre + j * map.stride + i);
      (j < 0 || (j == 0 && i < 0) ? earlier : later) =
          max(j < 0 || (j == 0 && i < 0) ? earlier : later, other);
    }
  }
  return v >= later && (first_of_equals ? v > earlier : v >= earlier);
}

// `inner_radius` is the radius if it is small enough to be unrolled, and 0 otherwise.
template <int inner_radius, class R>
__device__ bool is_maximum(const DeviceView<const R>& map, int x, int y, int radius,
                           bool first_of_equals) {
  if constexpr (inner_radius > 0) {
    constexpr int r = inner_radius;
    if (x >= r && x < map.width - r && y >= r && y < map.height - r) {
      return is_inner_maximum<r>(map, x, y, first_of_equals);
    }
  }
  return is_square_maximum(map, x, y, radius, first_of_equals);
}

// Sets one bit per pixel where there is a peak, and counts the peaks per row. One block per row.
template <int inner_radius, class R>
__global__ void mark_kernel(DeviceView<const R> first, Region region,
                            DeviceView<const std::uint8_t> mask, double threshold, bool relative,
                            double unit, int radius, bool first_of_equals,
                            const OrderedBits<R>* strongest, std::uint32_t* marks,
                            int words_per_row, std::uint32_t* row_counts) {
  constexpr int kWarps = kMarkThreads / kWarp;
  constexpr int kWordsAtOnce = 4;  // enough loads in flight to hide their latency
  __shared__ int count;
  const int y = blockIdx.x, frame = blockIdx.y, lane = threadIdx.x % kWarp;
  const auto map = frame_of(first, frame);
  const R best = relative ? from_ordered_bits(strongest[frame]) : R(0);
  const R cutoff = peak_cutoff<R>(threshold, relative, unit, best);
  const std::size_t row_index = std::size_t(frame) * map.height + y;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const R* row = map.row(y);
  const R *above = map.row(max(y - 1, 0)), *below = map.row(min(y + 1, map.height - 1));
  const bool row_inside = y >= region.top && y < region.bottom;
  int mine = 0;
  for (int base = threadIdx.x / kWarp; base < words_per_row; base += kWarps * kWordsAtOnce) {
    bool candidate[kWordsAtOnce];
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k) {
      const int x = (base + k * kWarps) * kWarp + lane;
      candidate[k] =
          may_be_peak(above, row, below, min(x, map.width - 1), map.width, cutoff, radius > 0) &&
          row_inside && x >= region.left && x < region.right;
    }
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k) {
      const int word = base + k * kWarps;
      if (word >= words_per_row) break;
      const int x = word * kWarp + lane;
      bool peak = candidate[k] && allowed(mask, x, y);
      if (peak && radius > 0) peak = is_maximum<inner_radius>(map, x, y, radius, first_of_equals);
      const std::uint32_t bits = __ballot_sync(~0u, peak);
      if (lane == 0) {
        marks[row_index * words_per_row + word] = bits;
        mine += __popc(bits);
      }
    }
  }
  if (mine) atomicAdd(&count, mine);
  __syncthreads();
  if (threadIdx.x == 0) row_counts[row_index] = count;
}

// The same for listed pixels, one thread per pixel, into marks and counts that were zeroed; the
// peaks are also appended to a list per frame.
template <int inner_radius, class R>
__global__ void mark_listed_kernel(DeviceView<const R> first, int first_frame, Region region,
                                   DeviceView<const std::uint8_t> mask, double threshold,
                                   bool relative, double unit, int radius, bool first_of_equals,
                                   const OrderedBits<R>* strongest, const std::uint32_t* pixels,
                                   const std::uint32_t* count, std::uint32_t* marks,
                                   int words_per_row, std::uint32_t* row_counts,
                                   std::uint32_t* peaks, std::size_t capacity,
                                   std::uint32_t* found) {
  const std::uint32_t n = *count;
  for (std::uint32_t i = blockIdx.x * kMarkThreads + threadIdx.x; i < n;
       i += gridDim.x * kMarkThreads) {
    const std::uint32_t width = first.width, height = first.height;
    const int x = pixels[i] % width, y = pixels[i] / width % height;
    const int frame = first_frame + pixels[i] / width / height;
    const auto map = frame_of(first, frame);
    const R best = relative ? from_ordered_bits(strongest[frame]) : R(0);
    const bool inside =
        x >= region.left && x < region.right && y >= region.top && y < region.bottom;
    const bool peak = inside && map(x, y) > peak_cutoff<R>(threshold, relative, unit, best) &&
                      allowed(mask, x, y) &&
                      (radius == 0 || is_maximum<inner_radius>(map, x, y, radius, first_of_equals));
    if (!peak) continue;
    // Bits and counts do not depend on the order of atomics, and the list needs no order.
    const std::size_t row = std::size_t(frame) * map.height + y;
    atomicOr(&marks[row * words_per_row + x / kWarp], 1u << x % kWarp);
    atomicAdd(&row_counts[row], 1u);
    peaks[frame * capacity + atomicAdd(&found[frame], 1u)] = y * width + x;
  }
}

// Stream compaction of the marked pixels (y * width + x) in reading order. One warp per row.
__global__ void gather_kernel(const std::uint32_t* marks, int words_per_row,
                              const std::uint32_t* row_counts, int width, int height,
                              std::size_t capacity, std::uint32_t* pixels, std::uint32_t* found) {
  using Reduce = cub::BlockReduce<std::uint32_t, kGatherRows * kWarp>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ std::uint32_t before_block;
  const int frame = blockIdx.y, first_row = blockIdx.x * kGatherRows;
  row_counts += std::size_t(frame) * height;
  std::uint32_t sum = 0;
#pragma unroll 4
  for (int row = threadIdx.x; row < first_row; row += blockDim.x) sum += row_counts[row];
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) before_block = sum;
  __syncthreads();

  const int y = first_row + threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  if (y >= height) return;
  std::uint32_t place = before_block;
  for (int row = first_row; row < y; ++row) place += row_counts[row];
  if (y == height - 1 && lane == 0) found[frame] = place + row_counts[y];
  if (row_counts[y] == 0) return;
  pixels += frame * capacity;
  gather_marks(marks + (std::size_t(frame) * height + y) * words_per_row, words_per_row, place,
               [&](int x, std::uint32_t at) { pixels[at] = std::uint32_t(y) * width + x; });
}

// If ties keep only the first, two peaks are more than a radius apart, which limits their number.
std::size_t most_peaks(int width, int height, const PeakOptions& options) {
  const int step = options.plateaus == Plateaus::first ? options.nms / 2 + 1 : 1;
  return std::size_t(divide_up(width, step)) * divide_up(height, step);
}

}  // namespace

template <class R>
void DevicePeaks::prepare(int width, int height, int frames) {
  const DeviceGuard device(context_);
  height_ = height;
  words_per_row_ = divide_up(width, kWarp);
  pixel_capacity_ = most_peaks(width, height, options_);
  capacity_ = options_.max_points > 0 ? std::min<std::size_t>(options_.max_points, pixel_capacity_)
                                      : pixel_capacity_;
  pinned_capacity_ = std::min(kPinnedPoints, capacity_);
  const std::size_t rows = std::size_t(height) * frames;
  strongest_.reserve<OrderedBits<R>>(context_, frames);
  marks_.reserve<std::uint32_t>(context_, rows * words_per_row_);
  row_counts_.reserve<std::uint32_t>(context_, rows);
  pixels_.reserve<std::uint32_t>(context_, pixel_capacity_ * frames);
  if (caps()) chosen_.reserve<std::uint32_t>(context_, capacity_ * frames);
  if (caps_cells()) {
    const std::uint32_t cells =
        divide_up<std::uint32_t>(width, options_.cell) * divide_up(height, options_.cell);
    cells_.prepare(context_, frames, cells, pixel_capacity_);
  }
  if (spaces()) prepare_spacing(width, height, frames);
  found_.reserve<std::uint32_t>(context_, frames);
  counts_.reserve<std::uint32_t>(context_, frames);
  corners_.reserve<Corner>(context_, capacity_ * frames);
  host_counts_.reserve<std::uint32_t>(context_, frames);
  host_corners_.reserve<Corner>(context_, pinned_capacity_ * frames);
}

template <class R>
OrderedBits<R>* DevicePeaks::enqueue_reset(int frames, Region region,
                                           DeviceView<const std::uint8_t> mask, double unit) {
  const DeviceGuard device(context_);
  frames_ = frames;
  region_ = region;
  mask_ = mask;
  unit_ = unit;
  listed_ = false;
  auto* strongest = strongest_.data<OrderedBits<R>>();
  if (options_.relative) {
    cuda_check(cudaMemsetAsync(strongest, 0, frames * sizeof *strongest, cuda_stream(context_)),
               "clearing the strongest response");
  }
  return strongest;
}

template <class R>
void DevicePeaks::enqueue_mark_listed(DeviceView<const R> first_map, int first_frame,
                                      const std::uint32_t* pixels, const std::uint32_t* count) {
  constexpr int kListBlocks = 128;
  const DeviceGuard device(context_);
  const cudaStream_t stream = cuda_stream(context_);
  if (!listed_) {
    const std::size_t rows = std::size_t(height_) * frames_;
    const std::size_t word = sizeof(std::uint32_t);
    cuda_check(cudaMemsetAsync(marks_.data<void>(), 0, rows * words_per_row_ * word, stream),
               "clearing marks");
    cuda_check(cudaMemsetAsync(row_counts_.data<void>(), 0, rows * word, stream),
               "clearing row counts");
    cuda_check(cudaMemsetAsync(found_.data<void>(), 0, frames_ * word, stream), "clearing counts");
    listed_ = true;
  }
  const int radius = options_.nms / 2;
  const auto kernel = radius == 1   ? mark_listed_kernel<1, R>
                      : radius == 2 ? mark_listed_kernel<2, R>
                                    : mark_listed_kernel<0, R>;
  kernel<<<kListBlocks, kMarkThreads, 0, stream>>>(
      first_map, first_frame, region_, mask_, options_.threshold, options_.relative, unit_, radius,
      options_.plateaus == Plateaus::first, strongest_.data<OrderedBits<R>>(), pixels, count,
      marks_.data<std::uint32_t>(), words_per_row_, row_counts_.data<std::uint32_t>(),
      pixels_.data<std::uint32_t>(), pixel_capacity_, found_.data<std::uint32_t>());
  cuda_check_launch("peaks: marks of a list");
}

void DevicePeaks::gather(int width, int height, int frames) {
  gather_kernel<<<dim3(divide_up(height, kGatherRows), frames), kGatherRows * kWarp, 0,
                  cuda_stream(context_)>>>(
      marks_.data<std::uint32_t>(), words_per_row_, row_counts_.data<std::uint32_t>(), width,
      height, pixel_capacity_, pixels_.data<std::uint32_t>(), found_.data<std::uint32_t>());
  cuda_check_launch("peaks: reading order");
}

template <class R>
void DevicePeaks::enqueue_search(DeviceView<const R> first, int frames, bool strongest_known,
                                 const DevicePeakTest& test, const DevicePeakMove& move) {
  const DeviceGuard device(context_);
  const cudaStream_t stream = cuda_stream(context_);
  auto* strongest = strongest_.data<OrderedBits<R>>();
  if (options_.relative && !strongest_known && !region_.empty()) {
    strongest_kernel<R><<<dim3(region_.bottom - region_.top, frames), kMarkThreads, 0, stream>>>(
        first, region_, mask_, strongest);
    cuda_check_launch("peaks: strongest response");
  }
  if (!listed_) {
    const int radius = options_.nms / 2;
    const auto kernel = radius == 1   ? mark_kernel<1, R>
                        : radius == 2 ? mark_kernel<2, R>
                                      : mark_kernel<0, R>;
    kernel<<<dim3(first.height, frames), kMarkThreads, 0, stream>>>(
        first, region_, mask_, options_.threshold, options_.relative, unit_, radius,
        options_.plateaus == Plateaus::first, strongest, marks_.data<std::uint32_t>(),
        words_per_row_, row_counts_.data<std::uint32_t>());
    cuda_check_launch("peaks: marks");
  }
  if (test) {
    if (!listed_) gather(first.width, first.height, frames);
    test({first.width, first.height, frames, pixels_.data<std::uint32_t>(), pixel_capacity_,
          found_.data<std::uint32_t>(), options_.threshold, unit_, options_.relative, strongest,
          marks_.data<std::uint32_t>(), words_per_row_, row_counts_.data<std::uint32_t>()});
  }
  gather(first.width, first.height, frames);
  if (spaces()) {
    make_spots(first, frames);
    if (move) move(spots_.data<Corner>(), found_.data<std::uint32_t>(), pixel_capacity_);
    space(first, frames);
  }
  if (caps()) cap(first, frames);
  enqueue_points(first, frames);
}

template void DevicePeaks::prepare<float>(int, int, int);
template void DevicePeaks::prepare<double>(int, int, int);
template OrderedBits<float>* DevicePeaks::enqueue_reset<float>(int, Region,
                                                               DeviceView<const std::uint8_t>,
                                                               double);
template OrderedBits<double>* DevicePeaks::enqueue_reset<double>(int, Region,
                                                                 DeviceView<const std::uint8_t>,
                                                                 double);
template void DevicePeaks::enqueue_mark_listed(DeviceView<const double>, int, const std::uint32_t*,
                                               const std::uint32_t*);
template void DevicePeaks::enqueue_search(DeviceView<const float>, int, bool, const DevicePeakTest&,
                                          const DevicePeakMove&);
template void DevicePeaks::enqueue_search(DeviceView<const double>, int, bool,
                                          const DevicePeakTest&, const DevicePeakMove&);

}  // namespace cornea::peaks
