// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/compaction.h"
#include "cornea/core/device_selection.h"
#include "cornea/describe/sift/device_sift.h"

namespace cornea::sift {
namespace {

using namespace core;

__global__ void __launch_bounds__(kSelectThreads)
    point_cap_kernel(const __grid_constant__ DeviceSpace space, PointLists points, KeepPoints rank,
                     const std::uint8_t* keep, std::uint32_t most, PointLists kept) {
  const int image = blockIdx.x;
  const SiftPoint* from = points.of(image);
  SiftPoint* to = kept.of(image);
  if (keep) keep += std::size_t(image) * points.capacity;
  const std::uint32_t count = points.end(image);
  const std::uint32_t left = keep_in_order(
      count, most, [&](std::uint32_t i) { return keep ? std::uint32_t(keep[i]) : 1u; },
      [&](std::uint32_t i) { return rank_of(from[i], space.octaves[from[i].octave].step, rank); },
      [&](std::uint32_t i, std::uint32_t, std::uint32_t at) {
        if (at < kept.capacity) to[at] = from[i];
      });
  if (threadIdx.x == 0) kept.counts[image] = left;
}

constexpr int kFeatureThreads = 128;

// The features of every point; one thread per point.
__global__ void __launch_bounds__(kFeatureThreads)
    features_kernel(PointLists points, AngleLists angles, FeatureLists features) {
  const int image = blockIdx.y, lane = threadIdx.x % kWarp;
  const std::size_t first = std::size_t(image) * points.capacity;
  const std::uint32_t begin = points.begin(image), end = points.end(image);
  const std::uint32_t i = begin + blockIdx.x * kFeatureThreads + threadIdx.x;
  const std::uint32_t warp_first = i - lane;
  if (begin >= end && i == begin) features.counts[image] = features.begin(image);
  if (warp_first >= end) return;
  const std::uint32_t* group_counts = angles.group_counts + image * point_groups(points.capacity);
  const std::uint32_t group = warp_first / kGroupPoints;
  // The number of features in the groups before this one, and of this group's points before this
  // warp.
  std::uint32_t place = warp_sum_of(group_counts, 0, group) +
                        warp_sum_of(angles.counts + first, group * kGroupPoints, warp_first);
  const std::uint32_t mine = i < end ? angles.counts[first + i] : 0;
  const std::uint32_t through = warp_running_sum(mine);
  if (i == end - 1) features.counts[image] = place + through;
  place += through - mine;
  OrientedPoint* to = features.of(image);
  for (std::uint32_t k = 0; k < mine && place + k < features.capacity; ++k) {
    to[place + k] = {i, angles.turns[(first + i) * kMostAngles + k]};
  }
}

__global__ void one_each_kernel(PointLists points, AngleLists angles, const float* turns,
                                FeatureLists features) {
  const std::uint32_t count = *points.counts;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    const float found = angles.counts[i] > 0 ? angles.turns[i * kMostAngles] : 0.0f;
    features.features[i] = {i, turns ? turns[i] : found};
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *features.counts = count;
}

// The points of each image and the grid cells in which they lie.
struct PointsInCells {
  DeviceSpace space;
  PointLists points;
  KeepPoints rank;
  int cell_side, cells_across;

  __device__ std::uint32_t count(int image) const { return points.end(image); }
  __device__ float value(int image, std::uint32_t i) const {
    const SiftPoint& p = points.of(image)[i];
    return rank_of(p, space.octaves[p.octave].step, rank);
  }
  __device__ std::uint32_t cell(int image, std::uint32_t i) const {
    const SiftPoint& p = points.of(image)[i];
    const DeviceOctave& o = space.octaves[p.octave];
    const Keypoint k = keypoint_of(p, o.step, o.origin, o.index, 0);
    return cell_index(k.y, cell_side) * cells_across + cell_index(k.x, cell_side);
  }
};

}  // namespace

void enqueue_cell_cap(cudaStream_t stream, const DeviceSpace& space, int width,
                      const PointLists& points, KeepPoints rank, int cell, int most,
                      const CellSelection& selection) {
  const PointsInCells lists{space, points, rank, cell, divide_up(width, cell)};
  enqueue_cell_selection(stream, selection, space.images, most, lists);
}

void enqueue_point_cap(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                       KeepPoints rank, const std::uint8_t* keep, std::uint32_t most,
                       const PointLists& kept) {
  point_cap_kernel<<<space.images, kSelectThreads, 0, stream>>>(space, points, rank, keep, most,
                                                                kept);
  cuda_check_launch("SIFT: the strongest points");
}

void enqueue_features(cudaStream_t stream, int images, const PointLists& points,
                      const AngleLists& angles, const FeatureLists& features) {
  const dim3 grid(divide_up(points.capacity, std::uint32_t(kFeatureThreads)), images);
  features_kernel<<<grid, kFeatureThreads, 0, stream>>>(points, angles, features);
  cuda_check_launch("SIFT: features in order");
}

void enqueue_one_each(cudaStream_t stream, const PointLists& points, const AngleLists& angles,
                      const float* turns, const FeatureLists& features) {
  one_each_kernel<<<64, 256, 0, stream>>>(points, angles, turns, features);
  cuda_check_launch("SIFT: one feature per point");
}

}  // namespace cornea::sift
