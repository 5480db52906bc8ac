// SPDX-License-Identifier: Apache-2.0
// The memory layout of SIFT's scale space, and the options in the form that the loops need.
#pragma once

#include <cstddef>
#include <vector>

#include "cornea/describe/sift/sift.h"
#include "cornea/describe/sift/sift_frame.h"
#include "cornea/describe/sift/sift_math.h"

namespace cornea::sift {

// All levels of an octave have the same size and are stored one after the other.
struct OctaveShape {
  int index = 0;  // 0: of the image's own size; -1: doubled
  int width = 0, height = 0;
  std::ptrdiff_t stride = 0;  // floats
  // Pixel x of the octave lies at step x + origin in the image.
  float step = 1, origin = 0;
  std::size_t offset = 0;  // of level 0 from the start of the scale space, floats

  std::size_t level_floats() const { return std::size_t(stride) * height; }
};

struct SiftShape {
  int width = 0, height = 0;  // of the image
  int levels = 0;             // per octave
  std::vector<OctaveShape> octaves;
  std::size_t floats = 0;  // of all octaves
};

// Throws if a doubled image would have too many pixels. Images without room for a point have no
// octaves.
SiftShape sift_shape(const SiftOptions& options, int width, int height);

// The blur that the filter adds: to the image for level 0 of the first octave, and to level l - 1
// for level l >= 1; in pixels of the octave.
double level_increment(const SiftOptions& options, int level);

SiftLimits sift_limits(const SiftOptions& options);

// Any angle in turns, in [0, 1).
float turn_of_angle(float radians);

// The shape of a given point.
PointShape shape_of(const Keypoint& point);

// The levels of a point's octave from which the domain sizes are described.
SizeLevels size_levels(const SiftOptions& options);

// The position in the scale space at which a point of the image is described.
SiftPoint place_of(const SiftOptions& options, const SiftShape& shape, const Keypoint& point);

}  // namespace cornea::sift
