// SPDX-License-Identifier: Apache-2.0
// SIFT's steps for one point on the CPU. The levels are those of the current part of the scale
// space or of a patch.
#pragma once

#include <array>
#include <cstdint>

#include "cornea/describe/sift/host_sift.h"

namespace cornea::sift {

class PointSteps {
 public:
  PointSteps(const HostScaleSpace& space, const SiftOptions& options);

  // The shape of a point: round unless the options ask for affine shape.
  PointShape shape(const SiftPoint& point, Patch& patch) const;
  // The angles of its features in the normalised plane, in turns: at most `most`, or one that is
  // upright in the image if most = 0. Returns their number.
  int angles(const SiftPoint& point, const PointShape& shape, int most,
             std::array<float, kMostAngles>& turns, Patch& patch) const;
  void describe(const SiftPoint& point, const PointShape& shape, float turn,
                std::uint8_t* descriptor, Patch& patch) const;

 private:
  int level_of(const SiftPoint& point) const {
    return affine_ ? affine_level(point.level) : point.level;
  }

  const HostScaleSpace& space_;
  bool affine_, pooled_, root_;
  SizeLevels sizes_;
};

}  // namespace cornea::sift
