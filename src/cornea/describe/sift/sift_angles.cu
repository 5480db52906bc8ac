// SPDX-License-Identifier: Apache-2.0
#include "cornea/describe/sift/device_angles.h"
#include "cornea/describe/sift/device_sift.h"

namespace cornea::sift {
namespace {

using namespace core;

constexpr int kPointWarps = 8;  // warps per block, one point per warp
constexpr int kAtOnce = 4;      // gradients in flight per lane
constexpr int kTabled = 64;  // largest window width, in pixels, whose weights are kept in a table

// One warp per point: each lane accumulates the gradients of every 32nd pixel of the window's
// square in a histogram of its own.
__global__ void __launch_bounds__(kPointWarps* kWarp)
    angles_kernel(const __grid_constant__ DeviceSpace space, PointLists points, int most,
                  AngleLists angles) {
  __shared__ float histograms[kPointWarps][kAngleParts * kAnglePitch];
  __shared__ float bins[kPointWarps][2][kAngleBins];
  __shared__ float weights[kPointWarps][2][kTabled];
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, image = blockIdx.y;
  const std::uint32_t end = points.end(image);
  float* const mine = histograms[warp] + lane * kAnglePitch;
  for (std::uint32_t i = points.begin(image) + blockIdx.x * kPointWarps + warp; i < end;
       i += gridDim.x * kPointWarps) {
    const SiftPoint point = points.of(image)[i];
    const DeviceView<const float> level = space.level(point.octave, point.level, image);
    const AngleWindow window = angle_window(point);
    const int r = window.radius, side = 2 * r + 1, left = window.x - r, top = window.y - r;
    auto weight_at = [&](int pixel, float centre) {
      return axis_weight(window.exponent, static_cast<float>(pixel) - centre);
    };
    for (int k = lane; k < min(side, kTabled); k += kWarp) {
      weights[warp][0][k] = weight_at(left + k, point.x);
      weights[warp][1][k] = weight_at(top + k, point.y);
    }
    for (int b = 0; b < kAngleBins; ++b) mine[b] = 0;
    __syncwarp();
    const bool tabled = side <= kTabled;
    // Rows of the window for which the level has gradients; pixels are numbered from the start of
    // the uncropped window.
    const int first_row = max(1 - top, 0), end_row = min(side, level.height - 1 - top);
    const int offset = (lane + kWarp - first_row * side % kWarp) % kWarp;
    // From one pixel of this lane to the next, 32 pixels further in the square.
    const int rows_on = kWarp / side, columns_on = kWarp % side;
    int column = offset % side, row = first_row + offset / side;
    const int pixels = max(end_row - first_row, 0) * side;
    for (int rounds = divide_up(pixels, kAtOnce * kWarp); rounds > 0; --rounds) {
      float gx[kAtOnce], gy[kAtOnce], weight[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const int x = left + column, y = top + row;
        const bool in_disc = (column - r) * (column - r) + (row - r) * (row - r) <= r * r;
        const bool inside = x >= 1 && y >= 1 && x < level.width - 1 && y < level.height - 1;
        const bool counts = row < end_row && in_disc && inside;
        const float* at = level.row(counts ? y : 1) + (counts ? x : 1);
        gx[k] = __ldg(at + 1) - __ldg(at - 1);
        gy[k] = __ldg(at + level.stride) - __ldg(at - level.stride);
        weight[k] = 0;
        if (counts) {
          const float across = tabled ? weights[warp][0][column] : weight_at(x, point.x);
          const float down = tabled ? weights[warp][1][row] : weight_at(y, point.y);
          weight[k] = across * down;
        }
        column += columns_on, row += rows_on;
        if (column >= side) column -= side, ++row;
      }
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        mine[angle_bin(turn_of(gy[k], gx[k]))] += sqrtf(gx[k] * gx[k] + gy[k] * gy[k]) * weight[k];
      }
    }
    __syncwarp();
    place_peaks(histograms[warp], bins[warp][0], bins[warp][1], most, points, image, i, angles);
    __syncwarp();
  }
}

__global__ void upright_kernel(PointLists points, AngleLists angles) {
  const int image = blockIdx.y;
  const std::uint32_t end = points.end(image);
  for (std::uint32_t i = points.begin(image) + blockIdx.x * blockDim.x + threadIdx.x; i < end;
       i += gridDim.x * blockDim.x) {
    const std::size_t at = std::size_t(image) * points.capacity + i;
    angles.turns[at * kMostAngles] = 0;
    angles.counts[at] = 1;
    atomicAdd(angles.group_counts + image * point_groups(points.capacity) + i / kGroupPoints, 1u);
  }
}

}  // namespace

void enqueue_angles(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                    int most, const AngleLists& angles) {
  constexpr int kBlocks = 132 * 5;
  const dim3 grid(kBlocks, space.images);
  if (angles.shapes) {
    enqueue_affine_angles(stream, space, points, most, angles);
  } else if (most == 0) {
    upright_kernel<<<grid, kPointWarps * kWarp, 0, stream>>>(points, angles);
  } else {
    angles_kernel<<<grid, kPointWarps * kWarp, 0, stream>>>(space, points, most, angles);
  }
  cuda_check_launch("SIFT: angles");
}

}  // namespace cornea::sift
