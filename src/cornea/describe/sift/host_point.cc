// SPDX-License-Identifier: Apache-2.0
#include "cornea/describe/sift/host_point.h"

namespace cornea::sift {

PointSteps::PointSteps(const HostScaleSpace& space, const SiftOptions& options)
    : space_(space),
      affine_(options.affine_shape),
      pooled_(options.domain_size_pooling),
      root_(options.root),
      sizes_(size_levels(options)) {}

PointShape PointSteps::shape(const SiftPoint& point, Patch& patch) const {
  PointShape shape;
  if (!affine_) return shape;
  for (int step = 0; step < kShapeSteps; ++step) {
    const int reach = reach_of(point.scale * stretch_of(shape));
    shape = adapted_shape(level_around(space_, point, level_of(point), reach, patch), point, shape);
  }
  return shape;
}

int PointSteps::angles(const SiftPoint& point, const PointShape& shape, int most,
                       std::array<float, kMostAngles>& turns, Patch& patch) const {
  if (most == 0) {
    turns[0] = affine_ ? normalised_turn(shape, 0) : 0;
    return 1;
  }
  const int reach = reach_of(point.scale * stretch_of(shape));
  const HostView<const float> level = level_around(space_, point, level_of(point), reach, patch);
  return affine_ ? find_affine_angles(level, point, shape, most, turns)
                 : find_angles(level, point, most, turns);
}

void PointSteps::describe(const SiftPoint& point, const PointShape& shape, float turn,
                          std::uint8_t* descriptor, Patch& patch) const {
  const float scale = point.scale * stretch_of(shape);
  if (pooled_) {
    const int reach = reach_of(scale * kLargestSize);
    std::array<HostView<const float>, kSizes> levels;
    for (int k = 0; k < kSizes; ++k) {
      levels[k] = level_around(space_, point, sizes_.at(level_of(point), k), reach, patch);
    }
    return describe_pooled(levels, point, shape, turn, root_, descriptor);
  }
  const HostView<const float> level =
      level_around(space_, point, level_of(point), reach_of(scale), patch);
  affine_ ? describe_affine(level, point, shape, turn, root_, descriptor)
          : describe_point(level, point, turn, root_, descriptor);
}

}  // namespace cornea::sift
