// What SIFT does with one point on the CPU, whose levels lie in the part or in a patch.
#pragma once

#include <array>
#include <cstdint>

#include "cornea/describe/sift/host_sift.h"

namespace cornea::sift {

class PointSteps {
 public:
  PointSteps(const HostScaleSpace& space, const SiftOptions& options);

  // Round unless the options ask for affine shape.
  PointShape shape(const SiftPoint& point, Patch& patch) const;
  // The turns of its features in the normalised plane; at most `most`, or one that is upright in
  // the image for most = 0. Returns how many.
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
