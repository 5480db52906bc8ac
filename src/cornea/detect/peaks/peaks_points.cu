// SPDX-License-Identifier: Apache-2.0
// The second half of the peak search on CUDA: from marked pixels to points on the host.
#include <algorithm>

#include "cornea/core/cuda.h"
#include "cornea/core/device_selection.h"
#include "cornea/core/stack.h"
#include "cornea/detect/peaks/device_peaks.h"
#include "cornea/detect/peaks/peaks_math.h"
#include "cornea/detect/peaks/spacing.h"

namespace cornea::peaks {
namespace {

using namespace core;

constexpr int kPointThreads = 256;

// The pixels of each frame in reading order, as a list whose items have values and cells.
template <class R>
struct PixelLists {
  DeviceView<const R> first;
  const std::uint32_t* pixels;
  const std::uint32_t* counts;
  std::size_t capacity;  // distance between the lists of two frames
  std::uint32_t cell_side, cells_across;

  __device__ std::uint32_t count(int frame) const { return counts[frame]; }
  __device__ std::uint32_t pixel(int frame, std::uint32_t i) const {
    return pixels[frame * capacity + i];
  }
  __device__ R value(int frame, std::uint32_t i) const {
    const std::uint32_t p = pixel(frame, i);
    return frame_of(first, frame)(p % first.width, p / first.width);
  }
  __device__ std::uint32_t cell(int frame, std::uint32_t i) const {
    const std::uint32_t p = pixel(frame, i);
    return p / first.width / cell_side * cells_across + p % first.width / cell_side;
  }
};

// The pixels of a frame that the caps keep, in reading order, or their indices in the list. One
// block per frame: the pixels are few.
template <class R>
__global__ void __launch_bounds__(kSelectThreads)
    select_kernel(PixelLists<R> lists, const std::uint8_t* keep, std::uint32_t most, bool places,
                  std::uint32_t* chosen, std::size_t chosen_capacity, std::uint32_t* counts) {
  const int frame = blockIdx.x;
  if (keep) keep += frame * lists.capacity;
  chosen += frame * chosen_capacity;
  const std::uint32_t kept = keep_in_order(
      lists.count(frame), most, [&](std::uint32_t i) { return keep ? std::uint32_t(keep[i]) : 1u; },
      [&](std::uint32_t i) { return lists.value(frame, i); },
      [&](std::uint32_t i, std::uint32_t, std::uint32_t at) {
        chosen[at] = places ? i : lists.pixel(frame, i);
      });
  if (threadIdx.x == 0) counts[frame] = kept;
}

// Computes the points.
template <class R>
__global__ void point_kernel(DeviceView<const R> first, const std::uint32_t* pixels,
                             const std::uint32_t* found, std::size_t pixel_capacity, double unit,
                             bool quadratic, Corner* corners, std::size_t capacity,
                             std::uint32_t* counts) {
  const int frame = blockIdx.y;
  const auto map = frame_of(first, frame);
  const std::uint32_t n = found[frame];
  if (blockIdx.x == 0 && threadIdx.x == 0) counts[frame] = n;
  for (std::uint32_t i = blockIdx.x * kPointThreads + threadIdx.x; i < n;
       i += gridDim.x * kPointThreads) {
    const std::uint32_t pixel = pixels[frame * pixel_capacity + i];
    corners[frame * capacity + i] =
        corner_at(map, pixel % map.width, pixel / map.width, unit, quadratic);
  }
}

// Gathers points that were computed before, all of them or those at the chosen indices.
__global__ void pick_kernel(const Corner* spots, std::size_t spot_capacity,
                            const std::uint32_t* places, const std::uint32_t* found,
                            Corner* corners, std::size_t capacity, std::uint32_t* counts) {
  const int frame = blockIdx.y;
  const std::uint32_t n = found[frame];
  if (blockIdx.x == 0 && threadIdx.x == 0) counts[frame] = n;
  for (std::uint32_t i = blockIdx.x * kPointThreads + threadIdx.x; i < n;
       i += gridDim.x * kPointThreads) {
    const std::uint32_t place = places ? places[frame * capacity + i] : i;
    corners[frame * capacity + i] = spots[frame * spot_capacity + place];
  }
}

// Copies as many points as there are, as words: neighbouring threads write neighbouring words of
// pinned host memory, which makes long bursts on the bus.
__global__ void deliver_kernel(const Corner* corners, const std::uint32_t* counts,
                               std::size_t capacity, Corner* host_corners,
                               std::size_t host_capacity, std::uint32_t* host_counts) {
  constexpr int kWords = sizeof(Corner) / sizeof(float);
  const int frame = blockIdx.y;
  const std::uint32_t n = counts[frame];
  const std::uint32_t words = min(n, std::uint32_t(host_capacity)) * kWords;
  const float* from = reinterpret_cast<const float*>(corners + frame * capacity);
  float* to = reinterpret_cast<float*>(host_corners + frame * host_capacity);
  if (blockIdx.x == 0 && threadIdx.x == 0) host_counts[frame] = n;
  for (std::uint32_t i = blockIdx.x * kPointThreads + threadIdx.x; i < words;
       i += gridDim.x * kPointThreads) {
    to[i] = from[i];
  }
}

// Enough blocks for typical counts in one iteration; more points take more iterations.
unsigned point_blocks(std::size_t capacity) {
  return std::min<std::size_t>(64, divide_up<std::size_t>(capacity, kPointThreads));
}

}  // namespace

bool DevicePeaks::spaces() const { return spacing_of(options_) > 0; }

// The points of all pixels.
template <class R>
void DevicePeaks::make_spots(DeviceView<const R> first, int frames) {
  auto* found = found_.data<std::uint32_t>();
  point_kernel<R>
      <<<dim3(point_blocks(pixel_capacity_), frames), kPointThreads, 0, cuda_stream(context_)>>>(
          first, pixels_.data<std::uint32_t>(), found, pixel_capacity_, unit_,
          options_.subpixel == Subpixel::quadratic, spots_.data<Corner>(), pixel_capacity_,
          spaced_.data<std::uint32_t>());
  cuda_check_launch("peaks: points of all pixels");
}

template <class R>
void DevicePeaks::cap(DeviceView<const R> first, int frames) {
  const cudaStream_t stream = cuda_stream(context_);
  const auto side = std::uint32_t(std::max(options_.cell, 1));
  const PixelLists<R> lists{first,
                            (spaces() ? spaced_pixels_ : pixels_).data<std::uint32_t>(),
                            (spaces() ? spaced_ : found_).data<std::uint32_t>(),
                            pixel_capacity_,
                            side,
                            divide_up(std::uint32_t(first.width), side)};
  if (caps_cells()) {
    enqueue_cell_selection(stream, cells_, frames, options_.max_per_cell, lists);
  }
  select_kernel<R><<<frames, kSelectThreads, 0, stream>>>(
      lists, caps_cells() ? cells_.keep() : nullptr, options_.max_points, spaces(),
      chosen_.data<std::uint32_t>(), capacity_, counts_.data<std::uint32_t>());
  cuda_check_launch("peaks: caps");
}

template <class R>
void DevicePeaks::enqueue_points(DeviceView<const R> first, int frames) {
  const bool capped = caps();
  if (spaces()) {
    pick_kernel<<<dim3(point_blocks(capacity_), frames), kPointThreads, 0, cuda_stream(context_)>>>(
        spaced_spots_.data<Corner>(), pixel_capacity_,
        capped ? chosen_.data<std::uint32_t>() : nullptr,
        (capped ? counts_ : spaced_).template data<std::uint32_t>(), corners_.data<Corner>(),
        capacity_, counts_.data<std::uint32_t>());
    cuda_check_launch("peaks: points");
    return;
  }
  point_kernel<R>
      <<<dim3(point_blocks(capacity_), frames), kPointThreads, 0, cuda_stream(context_)>>>(
          first, (capped ? chosen_ : pixels_).template data<std::uint32_t>(),
          (capped ? counts_ : found_).template data<std::uint32_t>(),
          capped ? capacity_ : pixel_capacity_, unit_, options_.subpixel == Subpixel::quadratic,
          corners_.data<Corner>(), capacity_, counts_.data<std::uint32_t>());
  cuda_check_launch("peaks: points");
}

void DevicePeaks::enqueue_delivery(int frames) {
  const DeviceGuard device(context_);
  deliver_kernel<<<dim3(point_blocks(pinned_capacity_), frames), kPointThreads, 0,
                   cuda_stream(context_)>>>(corners_.data<Corner>(), counts_.data<std::uint32_t>(),
                                            capacity_, host_corners_.data<Corner>(),
                                            pinned_capacity_, host_counts_.data<std::uint32_t>());
  cuda_check_launch("peaks: delivery");
}

std::vector<Corner> DevicePeaks::fetch(int frame) const {
  const std::size_t n = host_counts_.data<std::uint32_t>()[frame];
  const Corner* host = host_corners_.data<Corner>() + frame * pinned_capacity_;
  const std::size_t here = std::min(n, pinned_capacity_);
  std::vector<Corner> corners(host, host + here);
  context_.count_download(sizeof(std::uint32_t) + here * sizeof(Corner));
  if (n > here) {
    corners.resize(n);
    const std::size_t bytes = (n - here) * sizeof(Corner);
    context_.download(corners.data() + here, bytes, device_points(frame) + here, bytes, bytes, 1);
    context_.synchronize();
  }
  return corners;
}

template void DevicePeaks::make_spots(DeviceView<const float>, int);
template void DevicePeaks::make_spots(DeviceView<const double>, int);
template void DevicePeaks::cap(DeviceView<const float>, int);
template void DevicePeaks::cap(DeviceView<const double>, int);
template void DevicePeaks::enqueue_points(DeviceView<const float>, int);
template void DevicePeaks::enqueue_points(DeviceView<const double>, int);

}  // namespace cornea::peaks
