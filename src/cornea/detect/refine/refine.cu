// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/cuda.h"
#include "cornea/core/warp.h"
#include "cornea/detect/refine/device_refine.h"
#include "cornea/detect/refine/refine_math.h"

namespace cornea::refine {
namespace {

using namespace core;

static_assert(kRefineParts == kWarp);
constexpr int kWarpsPerBlock = 4;
// Eight blocks per multiprocessor of an H200; each warp processes several corners.
constexpr int kBlocks = 1056;

// One warp per corner; the patch around it is in shared memory.
template <class T>
__global__ void refine_kernel(DeviceView<const T> first, RefineWindow window, Corner* corners,
                              const std::uint32_t* counts, std::size_t capacity) {
  extern __shared__ float patches[];
  const int r = window.radius, width = 2 * r + 1, side = width + 2;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  float* patch = patches + warp * side * side;
  const DeviceView<const T> image(first.data + blockIdx.y * (first.stride * first.height),
                                  first.width, first.height, first.stride);
  corners += blockIdx.y * capacity;
  const std::uint32_t n = counts[blockIdx.y];
  for (std::uint32_t c = blockIdx.x * kWarpsPerBlock + warp; c < n;
       c += gridDim.x * kWarpsPerBlock) {
    Corner corner = corners[c];
    RefinePath path(corner);
    for (int step = 0; step < kRefineSteps; ++step) {
      const PatchOrigin origin = patch_origin(path.x, path.y);
      __syncwarp();
      for (int k = lane; k < side * side; k += kWarp) {
        patch[k] = patch_value(image, origin, k % side - r - 1, k / side - r - 1);
      }
      __syncwarp();
      RefineSums s;
      for (int tap = lane; tap < width * width; tap += kWarp) {
        const int i = tap % width, j = tap / width;
        const float* p = patch + (j + 1) * side + i + 1;
        const float gx = 0.5f * (p[1] - p[-1]), gy = 0.5f * (p[side] - p[-side]);
        add_tap(s, gx, gy, window.weight[i] * window.weight[j], i - r, j - r);
      }
      s = {warp_sum(s.xx), warp_sum(s.xy), warp_sum(s.yy),
           warp_sum(s.bx), warp_sum(s.by), warp_sum(s.c)};
      if (!refine_step(s, corner, r, path)) break;
    }
    accept_refined(path, r, image.width, image.height, corner);
    if (lane == 0) corners[c] = corner;
  }
}

template <class T>
void launch(const Context& context, DeviceView<const T> first, int frames, int radius,
            Corner* corners, const std::uint32_t* counts, std::size_t capacity) {
  const int side = 2 * radius + 3;
  const std::size_t shared = sizeof(float) * kWarpsPerBlock * side * side;
  refine_kernel<T><<<dim3(kBlocks, frames), kWarp * kWarpsPerBlock, shared, cuda_stream(context)>>>(
      first, make_refine_window(radius), corners, counts, capacity);
  cuda_check_launch("corner refinement");
}

}  // namespace

void enqueue_refine_corners(const Context& context, AnyView first, int frames, int radius,
                            Corner* corners, const std::uint32_t* counts, std::size_t capacity) {
  const DeviceGuard device(context);
  visit_gray_on_device(first, [&](auto images) {
    launch(context, images, frames, radius, corners, counts, capacity);
  });
}

}  // namespace cornea::refine
