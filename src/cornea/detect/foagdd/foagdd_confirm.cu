// The measure at the further scales, around the peaks of the first one only.
#include <algorithm>

#include "cornea/core/cuda.h"
#include "cornea/core/pixels.h"
#include "cornea/detect/foagdd/device_foagdd.h"
#include "cornea/detect/foagdd/foagdd_device.h"
#include "cornea/detect/foagdd/foagdd_math.h"
#include "cornea/detect/peaks/drop_candidate.h"
#include "cornea/detect/peaks/strongest.h"

namespace cornea {
namespace {

constexpr int kSide = 2 * kFoagddDiscRadius + 1;
constexpr int kPositions = 37;      // of the disc
constexpr int kMostCandidates = 8;  // a block
constexpr int kThreads = 320;       // 8 x 37, in whole warps

struct DiscOffset {
  signed char dx, dy;
};
// The disc's pixels, in any order.
__device__ DiscOffset disc_offset(int position) {
  int column = -kFoagddDiscRadius;
  while (position >= 2 * foagdd_disc_half_height(column) + 1) {
    position -= 2 * foagdd_disc_half_height(column) + 1;
    ++column;
  }
  return {static_cast<signed char>(column),
          static_cast<signed char>(position - foagdd_disc_half_height(column))};
}

// A block takes a few candidates: their surroundings go to shared memory, a thread makes the
// derivatives of one pixel of one disc, and then a thread the measure of one candidate.
template <int n, class T>
__global__ void __launch_bounds__(kThreads)
    confirm_kernel(DeviceView<const T> first, DeviceCandidates candidates, FoagddDeviceBank bank,
                   int per_block, int frame) {
  extern __shared__ float patches[];
  __shared__ float derivatives[kMostCandidates][kSide][kSide][n];
  const auto image = frame_of(first, frame);
  const std::uint32_t* pixels = candidates.pixels + frame * candidates.capacity;
  const std::uint32_t count = candidates.counts[frame];
  const auto* strongest = static_cast<const OrderedBits<double>*>(candidates.strongest);
  const double best = candidates.relative ? from_ordered_bits(strongest[frame]) : 0;
  const double cutoff =
      peak_cutoff<double>(candidates.threshold, candidates.relative, candidates.unit, best);
  const int margin = bank.radius + kFoagddDiscRadius, side = 2 * margin + 1;
  const int mine = threadIdx.x / kPositions;  // candidate of this thread's pixel
  const DiscOffset offset = disc_offset(threadIdx.x % kPositions);
  auto still_there = [&](std::uint32_t pixel) {
    const std::uint32_t x = pixel % candidates.width, y = pixel / candidates.width;
    const std::size_t row = std::size_t(frame) * candidates.height + y;
    return (candidates.marks[row * candidates.words_per_row + x / 32] >> x % 32 & 1) != 0;
  };
  for (std::uint32_t base = blockIdx.x * per_block; base < count; base += gridDim.x * per_block) {
    const int here = min(std::uint32_t(per_block), count - base);
    for (int i = threadIdx.x; i < here * side * side; i += kThreads) {
      const std::uint32_t pixel = pixels[base + i / (side * side)];
      const int x = int(pixel % candidates.width) - margin + i % side;
      const int y = int(pixel / candidates.width) - margin + i / side % side;
      const int column = foagdd_source(x, image.width), row = foagdd_source(y, image.height);
      patches[i] = column < 0 || row < 0 ? 0.0f : gray_level(__ldg(image.row(row) + column));
    }
    __syncthreads();
    if (mine < here) {
      const float* centre =
          patches + (std::size_t(mine) * side + margin + offset.dy) * side + margin + offset.dx;
      foagdd_derivatives_at<n>(
          bank, centre, side,
          derivatives[mine][offset.dy + kFoagddDiscRadius][offset.dx + kFoagddDiscRadius]);
    }
    __syncthreads();
    if (threadIdx.x < here && still_there(pixels[base + threadIdx.x])) {
      double tensor[foagdd_tensor_size(n)];
      foagdd_tensor<n>(
          [&](int dx, int dy, double* d) {
            const float* from =
                derivatives[threadIdx.x][dy + kFoagddDiscRadius][dx + kFoagddDiscRadius];
#pragma unroll
            for (int i = 0; i < n; ++i) d[i] = from[i];
          },
          tensor);
      if (!(foagdd_measure<n>(tensor) > cutoff)) {
        drop_candidate(candidates, frame, pixels[base + threadIdx.x]);
      }
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void DeviceFoagdd::enqueue_confirm_scale(DeviceView<const T> first,
                                         const DeviceCandidates& candidates, std::size_t scale) {
  constexpr std::size_t kMostSharedBytes = 160 << 10;
  const int side = 2 * (banks_[scale].radius + kFoagddDiscRadius) + 1;
  const std::size_t patch_bytes = std::size_t(side) * side * sizeof(float);
  const int per_block =
      static_cast<int>(std::clamp<std::size_t>(kMostSharedBytes / patch_bytes, 1, kMostCandidates));
  with_directions(banks_[scale].directions, [&](auto n) {
    const auto kernel = confirm_kernel<n(), T>;
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(per_block * patch_bytes)),
               "FOAGDD: shared memory");
    for (int frame = 0; frame < candidates.frames; ++frame) {
      kernel<<<multiprocessors_ * 4, kThreads, per_block * patch_bytes, cuda_stream(context_)>>>(
          first, candidates, device_bank(scale), per_block, frame);
    }
  });
  cuda_check_launch("FOAGDD further scales");
}

void DeviceFoagdd::enqueue_confirm(AnyView first, const DeviceCandidates& candidates) {
  const DeviceGuard device(context_);
  for (std::size_t scale = 1; scale < banks_.size(); ++scale) {
    if (first.pixel() == Pixel::u8) {
      enqueue_confirm_scale(first.device<std::uint8_t>(), candidates, scale);
    } else if (first.pixel() == Pixel::u16) {
      enqueue_confirm_scale(first.device<std::uint16_t>(), candidates, scale);
    } else {
      enqueue_confirm_scale(first.device<float>(), candidates, scale);
    }
  }
}

}  // namespace cornea
