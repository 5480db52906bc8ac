// The second half of the peak search on CUDA: from marked pixels to points on the host.
#include <algorithm>

#include <cub/block/block_scan.cuh>

#include "cornea/core/cuda.h"
#include "cornea/detect/peaks/device_peaks.h"
#include "cornea/detect/peaks/peaks_math.h"
#include "cornea/detect/peaks/radix_select.h"
#include "cornea/detect/peaks/strongest.h"

namespace cornea {
namespace {

constexpr int kSelectThreads = 1024;  // one block a frame: the candidates are few
constexpr int kPointThreads = 256;

// The `count` strongest of a frame's candidates, still in reading order: those above the last one
// that is kept, and of those equal to it the first ones, as many as find room.
template <class R>
__global__ void select_kernel(DeviceView<const R> first, const std::uint32_t* pixels,
                              const std::uint32_t* found, std::size_t pixel_capacity,
                              std::uint32_t count, std::uint32_t* chosen,
                              std::size_t chosen_capacity, std::uint32_t* counts) {
  using Bits = OrderedBits<R>;
  using Scan = cub::BlockScan<std::uint32_t, kSelectThreads>;
  __shared__ typename Scan::TempStorage storage;
  const int frame = blockIdx.x;
  const auto map = frame_of(first, frame);
  pixels += frame * pixel_capacity;
  chosen += frame * chosen_capacity;
  const std::uint32_t n = found[frame];
  if (threadIdx.x == 0) counts[frame] = min(n, count);
  if (n <= count) {
    for (std::uint32_t i = threadIdx.x; i < n; i += kSelectThreads) chosen[i] = pixels[i];
    return;
  }
  auto value = [&](std::uint32_t i) {
    return ordered_bits(map(pixels[i] % map.width, pixels[i] / map.width));
  };
  const LastKept<Bits> last = find_last_kept<Bits>(count, [&](auto&& f) {
    for (std::uint32_t i = threadIdx.x; i < n; i += kSelectThreads) f(value(i));
  });
  std::uint32_t placed = 0, equals_seen = 0;
  for (std::uint32_t base = 0; base < n; base += kSelectThreads) {
    const std::uint32_t i = base + threadIdx.x;
    const Bits v = i < n ? value(i) : Bits(0);
    const std::uint32_t equal = i < n && v == last.value;
    std::uint32_t equals_before, equals_here, at, here;
    Scan(storage).ExclusiveSum(equal, equals_before, equals_here);
    __syncthreads();
    const std::uint32_t keep =
        i < n && (v > last.value || (equal && equals_seen + equals_before < last.room));
    Scan(storage).ExclusiveSum(keep, at, here);
    __syncthreads();
    if (keep) chosen[placed + at] = pixels[i];
    placed += here;
    equals_seen += equals_here;
  }
}

// The points themselves.
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

// As many points as there are, as whole words: neighbouring threads write neighbouring words of
// pinned host memory, which makes long bursts over the bus.
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

// Enough blocks for typical counts in one turn; more points take more turns.
unsigned point_blocks(std::size_t capacity) {
  return std::min<std::size_t>(64, divide_up<std::size_t>(capacity, kPointThreads));
}

}  // namespace

template <class R>
void DevicePeaks::enqueue_points(DeviceView<const R> first, int frames) {
  const DeviceGuard device(context_);
  const cudaStream_t stream = cuda_stream(context_);
  const bool by_count = options_.max_points > 0;
  if (by_count) {
    select_kernel<R><<<frames, kSelectThreads, 0, stream>>>(
        first, pixels_.data<std::uint32_t>(), found_.data<std::uint32_t>(), pixel_capacity_,
        options_.max_points, chosen_.data<std::uint32_t>(), capacity_,
        counts_.data<std::uint32_t>());
    cuda_check_launch("peaks: the strongest");
  }
  point_kernel<R><<<dim3(point_blocks(capacity_), frames), kPointThreads, 0, stream>>>(
      first, (by_count ? chosen_ : pixels_).template data<std::uint32_t>(),
      (by_count ? counts_ : found_).template data<std::uint32_t>(),
      by_count ? capacity_ : pixel_capacity_, unit_, options_.subpixel == Subpixel::quadratic,
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

template void DevicePeaks::enqueue_points(DeviceView<const float>, int);
template void DevicePeaks::enqueue_points(DeviceView<const double>, int);

}  // namespace cornea
