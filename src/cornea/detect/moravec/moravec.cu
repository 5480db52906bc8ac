// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/cuda.h"
#include "cornea/detect/moravec/device_moravec.h"
#include "cornea/detect/moravec/moravec_math.h"
#include "cornea/detect/peaks/strongest.h"
#include "cornea/detect/strip_walk.h"

namespace cornea::moravec {
namespace {

using namespace core;
using namespace peaks;
using namespace detect;

// Each warp walks down a strip of the image, one lane per column of quads. Each lane keeps the sums
// over the last w quads of its column; the window's other columns come from the neighbouring lanes.
template <int radius, class T, class R>
__global__ void __launch_bounds__(kWarp* kWarpsPerBlock)
    moravec_kernel(DeviceView<const T> first, DeviceView<R> first_map, OrderedBits<R>* strongest) {
  using S = MoravecSum<T>;
  constexpr int kWindow = 2 * radius + 1;
  constexpr int kOutputs = kWarp - kWindow;  // lanes radius + 1 .. 31 - radius
  const std::size_t frame = std::size_t(blockIdx.z) * first.stride * first.height;
  const std::size_t map_frame = std::size_t(blockIdx.z) * first_map.stride * first_map.height;
  const int width = first.width, height = first.height;
  const int lane = threadIdx.x;
  const int x = int(blockIdx.x) * kOutputs + lane - radius - 1;
  const int top = (int(blockIdx.y) * kWarpsPerBlock + int(threadIdx.y)) * kRowsPerWalk;
  if (top >= height) return;
  // Columns and rows beyond the image repeat its edge; no valid output depends on them.
  const T* column = first.data + frame + min(max(x, 0), width - 1);
  const int to_right = x >= 0 && x < width - 1;
  auto row_at = [&](int y) { return column + min(max(y, 0), height - 1) * first.stride; };
  const bool writes = lane > radius && lane < kWarp - radius && x < width;
  const bool inside = x > radius && x < width - radius - 1;

  S ring[kMoravecShifts][kWindow] = {};
  S columns[kMoravecShifts] = {};
  S above[kMoravecShifts] = {};
  S largest = 0;
  int y = top - 1 - radius;  // the next row of quads to add
  T p00 = row_at(y)[0], p10 = row_at(y)[to_right];
  for (int step = 0; step < kRowsPerWalk + kWindow; ++step, ++y) {
    const T* below = row_at(y + 1);
    const T p01 = below[0], p11 = below[to_right];
    const S entering[kMoravecShifts] = {
        quad_difference<kRight>(p00, p10, p01, p11), quad_difference<kDown>(p00, p10, p01, p11),
        quad_difference<kDiagonal>(p00, p10, p01, p11), quad_difference<kAnti>(p00, p10, p01, p11)};
    p00 = p01;
    p10 = p11;
    S sums[kMoravecShifts];
#pragma unroll
    for (int s = 0; s < kMoravecShifts; ++s) {
      columns[s] += entering[s] - ring[s][0];
#pragma unroll
      for (int i = 0; i + 1 < kWindow; ++i) ring[s][i] = ring[s][i + 1];
      ring[s][kWindow - 1] = entering[s];
      sums[s] = columns[s];
#pragma unroll
      for (int i = 1; i <= radius; ++i) {
        sums[s] += __shfl_up_sync(~0u, columns[s], i) + __shfl_down_sync(~0u, columns[s], i);
      }
    }
    const S right_before = __shfl_up_sync(~0u, sums[kRight], 1);
    const S diagonal_before = __shfl_up_sync(~0u, above[kDiagonal], 1);
    const S anti_before = __shfl_up_sync(~0u, sums[kAnti], 1);
    const int out_y = y - radius;  // the row whose window is now complete
    if (step >= kWindow && writes && out_y < height) {
      S smallest = min(min(sums[kRight], right_before), min(sums[kDown], above[kDown]));
      smallest = min(smallest, min(sums[kDiagonal], diagonal_before));
      smallest = min(smallest, min(anti_before, above[kAnti]));
      const bool counts = inside && out_y > radius && out_y < height - radius - 1;
      if (!counts) smallest = 0;
      largest = max(largest, smallest);
      first_map.data[map_frame + out_y * first_map.stride + x] = R(smallest);
    }
#pragma unroll
    for (int s = 0; s < kMoravecShifts; ++s) above[s] = sums[s];
  }
  if (strongest) raise_strongest(R(largest), strongest + blockIdx.z);
}

}  // namespace

template <class T, class R>
void enqueue_moravec_response(const Context& context, DeviceView<const T> first, int frames,
                              int window, DeviceView<R> first_map, OrderedBits<R>* strongest) {
  const DeviceGuard device(context);
  with_window_radius(window / 2, [&](auto radius) {
    const dim3 grid = walk_grid(first.width, first.height, kWarp - (2 * radius() + 1), frames);
    moravec_kernel<radius()>
        <<<grid, walk_block(), 0, cuda_stream(context)>>>(first, first_map, strongest);
  });
  cuda_check_launch("Moravec response");
}

template void enqueue_moravec_response(const Context&, DeviceView<const std::uint8_t>, int, int,
                                       DeviceView<float>, OrderedBits<float>*);
template void enqueue_moravec_response(const Context&, DeviceView<const std::uint16_t>, int, int,
                                       DeviceView<double>, OrderedBits<double>*);

}  // namespace cornea::moravec
