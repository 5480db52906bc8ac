// SPDX-License-Identifier: Apache-2.0
#include "cornea/describe/sift/device_angles.h"
#include "cornea/describe/sift/device_sift.h"

namespace cornea::sift {
namespace {

using namespace core;

constexpr int kPointWarps = 8;  // warps per block, one point per warp
constexpr int kShapeSamples = kShapeGrid * kShapeGrid, kAngleSamples = kAngleGrid * kAngleGrid;
static_assert(kShapeParts == kWarp && kAngleParts == kWarp);

struct Gradient {
  float gx, gy;
  bool counts;  // whether the sample lies inside the level
};
__device__ Gradient gradient_at(const DeviceView<const float>& level, const SampleFrame& frame,
                                int i, int j) {
  const float row_x = frame.x + static_cast<float>(j) * frame.vx;
  const float row_y = frame.y + static_cast<float>(j) * frame.vy;
  const float x = row_x + static_cast<float>(i) * frame.ux;
  const float y = row_y + static_cast<float>(i) * frame.uy;
  if (!is_sampled(x, y, level.width, level.height)) return {0, 0, false};
  const int column = static_cast<int>(x), row = static_cast<int>(y);
  const float fx = x - static_cast<float>(column), fy = y - static_cast<float>(row);
  const float* r1 = level.row(row) + column - 1;
  const float *r0 = r1 - level.stride, *r2 = r1 + level.stride, *r3 = r2 + level.stride;
  const float a0 = __ldg(r1), a1 = __ldg(r1 + 1), a2 = __ldg(r1 + 2), a3 = __ldg(r1 + 3);
  const float b0 = __ldg(r2), b1 = __ldg(r2 + 1), b2 = __ldg(r2 + 2), b3 = __ldg(r2 + 3);
  const float up1 = __ldg(r0 + 1), up2 = __ldg(r0 + 2);
  const float down1 = __ldg(r3 + 1), down2 = __ldg(r3 + 2);
  const float across0 = mix(a0, b0, fy), across1 = mix(a1, b1, fy);
  const float across2 = mix(a2, b2, fy), across3 = mix(a3, b3, fy);
  return {mix(across2 - across0, across3 - across1, fx),
          mix(mix(b1 - up1, down1 - a1, fy), mix(b2 - up2, down2 - a2, fy), fx), true};
}

// Warp collective: the moments under a shape; each lane adds every 32nd sample.
__device__ Moments moments_of(const DeviceView<const float>& level, const SampleFrame& frame,
                              const float* weights) {
  Moments sum{0, 0, 0};
#pragma unroll
  for (int s = threadIdx.x % kWarp; s < kShapeSamples; s += kWarp) {
    const int i = s % kShapeGrid, j = s / kShapeGrid;
    const Gradient g = gradient_at(level, frame, i, j);
    const float weight = g.counts ? weights[i] * weights[j] : 0.0f;
    sum.xx += g.gx * g.gx * weight;
    sum.xy += g.gx * g.gy * weight;
    sum.yy += g.gy * g.gy * weight;
  }
  return {warp_sum(sum.xx), warp_sum(sum.xy), warp_sum(sum.yy)};
}

// One warp per point: its shape, and then its angles in the normalised plane.
__global__ void __launch_bounds__(kPointWarps* kWarp)
    affine_angles_kernel(const __grid_constant__ DeviceSpace space, PointLists points, int most,
                         AngleLists angles) {
  __shared__ float histograms[kPointWarps][kAngleParts * kAnglePitch];
  __shared__ float bins[kPointWarps][2][kAngleBins];
  __shared__ float shape_weights[kShapeGrid], angle_weights[kAngleGrid];
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, image = blockIdx.y;
  if (threadIdx.x < kShapeGrid) {
    shape_weights[threadIdx.x] = grid_weight(threadIdx.x, kShapeGrid, kShapeSpacing, kShapeSigma);
  }
  if (threadIdx.x < kAngleGrid) {
    angle_weights[threadIdx.x] = grid_weight(threadIdx.x, kAngleGrid, kAngleSpacing, kAngleSigma);
  }
  __syncthreads();
  const std::uint32_t end = points.end(image);
  float* const mine = histograms[warp] + lane * kAnglePitch;
  for (std::uint32_t p = points.begin(image) + blockIdx.x * kPointWarps + warp; p < end;
       p += gridDim.x * kPointWarps) {
    const SiftPoint point = points.of(image)[p];
    const DeviceView<const float> level =
        space.level(point.octave, affine_level(point.level), image);
    const std::size_t at = std::size_t(image) * points.capacity + p;
    PointShape shape;
    for (int step = 0; step < kShapeSteps; ++step) {
      const SampleFrame frame =
          upright_frame(point.x, point.y, kShapeSpacing * point.scale, kShapeGrid, shape);
      shape = shape_of(moments_of(level, frame, shape_weights));
    }
    if (lane == 0) angles.shapes[at] = shape;
    if (most == 0) {
      if (lane == 0) {
        angles.turns[at * kMostAngles] = normalised_turn(shape, 0);
        angles.counts[at] = 1;
        atomicAdd(angles.group_counts + image * point_groups(points.capacity) + p / kGroupPoints,
                  1u);
      }
      continue;
    }
    for (int b = 0; b < kAngleBins; ++b) mine[b] = 0;
    const SampleFrame frame =
        upright_frame(point.x, point.y, kAngleSpacing * point.scale, kAngleGrid, shape);
#pragma unroll 4
    for (int s = lane; s < kAngleSamples; s += kWarp) {
      const int i = s % kAngleGrid, j = s / kAngleGrid;
      const Gradient g = gradient_at(level, frame, i, j);
      const float weight = g.counts ? angle_weights[i] * angle_weights[j] : 0.0f;
      const float along = frame.ax * g.gx + frame.ay * g.gy;
      const float aside = frame.bx * g.gx + frame.by * g.gy;
      mine[angle_bin(turn_of(aside, along))] += sqrtf(along * along + aside * aside) * weight;
    }
    __syncwarp();
    place_peaks(histograms[warp], bins[warp][0], bins[warp][1], most, points, image, p, angles);
    __syncwarp();
  }
}

}  // namespace

void enqueue_affine_angles(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                           int most, const AngleLists& angles) {
  constexpr int kBlocks = 132 * 5;
  affine_angles_kernel<<<dim3(kBlocks, space.images), kPointWarps * kWarp, 0, stream>>>(
      space, points, most, angles);
  cuda_check_launch("SIFT: shapes and angles");
}

}  // namespace cornea::sift
