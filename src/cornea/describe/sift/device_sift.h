// SPDX-License-Identifier: Apache-2.0
// SIFT's steps on CUDA: declarations that the .cu files share.
//
// All images of a batch go through each step together. Extrema are listed unordered. The pixels to
// which their fits converge are marked, one bit per pixel and one count per row, and stream
// compaction gathers the points in order, so that the order does not depend on atomics. Unordered
// lists never leave the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornea/core/cell_selection.h"
#include "cornea/core/cuda.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/core/warp.h"
#include "cornea/describe/sift/sift_frame.h"
#include "cornea/describe/sift/sift_math.h"

namespace cornea::sift {

inline constexpr int kMostOctaves = 32;

// The scale space of several images, as kernels see it.
struct DeviceOctave {
  float* levels = nullptr;  // all images of level 0, then all of level 1, ..
  int width = 0, height = 0, stride = 0;
  float step = 1, origin = 0;
  int index = 0;
  // Index of this octave's first row among the rows searched for points, level by level.
  std::uint32_t first_row = 0, first_word = 0;
  int words_per_row = 0;  // words of marks

  CORNEA_HD std::size_t image_floats() const { return std::size_t(stride) * height; }
};
struct DeviceSpace {
  DeviceOctave octaves[kMostOctaves];
  int count = 0, images = 0, intervals = 0;
  std::uint32_t rows = 0, words = 0;  // of marks, per image

  CORNEA_HD DeviceView<float> level(int octave, int level, int image) const {
    const DeviceOctave& o = octaves[octave];
    const std::size_t at = (std::size_t(level) * images + image) * o.image_floats();
    return {o.levels + at, o.width, o.height, o.stride};
  }
};

// The differences D_l of an octave of one image.
struct DeviceDifferences {
  const float* levels;
  std::size_t level_floats;  // distance between levels
  int stride;
  __device__ float operator()(int l, int x, int y) const {
    const float* at = levels + level_floats * l + std::ptrdiff_t(stride) * y + x;
    return __ldg(at + level_floats) - __ldg(at);
  }
};
inline __device__ DeviceDifferences differences_of(const DeviceSpace& space, int octave,
                                                   int image) {
  const DeviceOctave& o = space.octaves[octave];
  return {o.levels + image * o.image_floats(), o.image_floats() * space.images, o.stride};
}

// The pixel of an extremum.
struct Extremum {
  std::uint32_t place;  // image << 16 | octave << 8 | level
  std::uint32_t pixel;  // y * width + x in its octave
};

// Counters of a call. The host checks them at the end: if more items were found than there was room
// for, it enlarges the memory and runs again.
struct ExtremumList {
  Extremum* items;
  std::uint32_t capacity;
  std::uint32_t* count;
};
// A step may process a part of a list: the items between two counts.
struct PointLists {  // one list per image
  SiftPoint* points;
  std::uint32_t capacity;
  std::uint32_t* counts;
  const std::uint32_t* first = nullptr;  // null: from the start
  CORNEA_HD SiftPoint* of(int image) const { return points + std::size_t(image) * capacity; }
  __device__ std::uint32_t begin(int image) const { return first ? first[image] : 0; }
  __device__ std::uint32_t end(int image) const { return min(counts[image], capacity); }
};
struct AngleLists {
  float* turns;                 // kMostAngles per point, in turns
  std::uint8_t* counts;         // per point
  std::uint32_t* group_counts;  // per kGroupPoints points; zeroed before use
  PointShape* shapes;           // per point; null: all are round
};
inline constexpr std::uint32_t kGroupPoints = 64;
CORNEA_HD inline std::uint32_t point_groups(std::uint32_t capacity) {
  return core::divide_up(capacity, kGroupPoints);
}
struct OrientedPoint {
  std::uint32_t point;
  float turn;
};
struct FeatureLists {
  OrientedPoint* features;
  std::uint32_t capacity;
  std::uint32_t* counts;
  const std::uint32_t* first = nullptr;
  CORNEA_HD OrientedPoint* of(int image) const { return features + std::size_t(image) * capacity; }
  __device__ std::uint32_t begin(int image) const { return first ? first[image] : 0; }
  __device__ std::uint32_t end(int image) const { return min(counts[image], capacity); }
};
// Where finished features are written: pinned host memory and, if descriptors are kept, device
// memory.
struct FeatureTargets {
  Keypoint* keypoints;
  std::uint8_t* descriptors;
  std::uint8_t* device_descriptors;  // or null
};
struct Marks {
  std::uint32_t* bits;
  std::uint32_t* row_counts;
  std::uint32_t* group_counts;  // per kGroupRows rows
};
inline constexpr std::uint32_t kGroupRows = 64;
CORNEA_HD inline std::uint32_t row_groups(std::uint32_t rows) {
  return core::divide_up(rows, kGroupRows);
}

// Each function queues one step on a stream.

// Converts images stacked vertically to floats.
template <class T>
void enqueue_place(cudaStream_t stream, DeviceView<const T> first, DeviceView<float> out,
                   int images, bool doubled);
void enqueue_half(cudaStream_t stream, const DeviceSpace& space, int octave);
void enqueue_extrema(cudaStream_t stream, const DeviceSpace& space, int octave,
                     const SiftLimits& limits, const ExtremumList& list);
void enqueue_settle(cudaStream_t stream, const DeviceSpace& space, const SiftLimits& limits,
                    const ExtremumList& list, DeviceView<const std::uint8_t> mask,
                    const Marks& marks);
// The points of some octaves; in the list they follow those of the octaves before.
void enqueue_gather(cudaStream_t stream, const DeviceSpace& space, int first_octave, int octaves,
                    const SiftLimits& limits, const Marks& marks, const PointLists& points);
// Writes to selection.keep() whether the cap per grid cell keeps a point (1) or not (0). Images are
// `width` wide.
void enqueue_cell_cap(cudaStream_t stream, const DeviceSpace& space, int width,
                      const PointLists& points, KeepPoints rank, int cell, int most,
                      const core::CellSelection& selection);
// Keeps the `most` (0: all) highest-ranked points among those whose `keep` (if given) is not 0.
void enqueue_point_cap(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                       KeepPoints rank, const std::uint8_t* keep, std::uint32_t most,
                       const PointLists& kept);
void enqueue_angles(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                    int most, const AngleLists& angles);
// With affine shape: the shapes, and the angles in the normalised plane.
void enqueue_affine_angles(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                           int most, const AngleLists& angles);
// The features of the points in order.
void enqueue_features(cudaStream_t stream, int images, const PointLists& points,
                      const AngleLists& angles, const FeatureLists& features);
// One feature per point of the first image, with the point's first angle (0 if it has none) or with
// the given angles.
void enqueue_one_each(cudaStream_t stream, const PointLists& points, const AngleLists& angles,
                      const float* turns, const FeatureLists& features);
// How features are described.
struct DescriptorRule {
  bool root, pooled;
  SizeLevels sizes;          // for domain-size pooling
  const PointShape* shapes;  // per point; null: all are round
};
void enqueue_descriptors(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                         const FeatureLists& features, const DescriptorRule& rule,
                         const FeatureTargets& out);

}  // namespace cornea::sift
