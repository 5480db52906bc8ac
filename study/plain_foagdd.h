// FOAGDD as it was published, in double precision, step by step and at every pixel: what the
// library's corners and times are held against (W. Zhang and C. Sun, International Journal of
// Computer Vision 128, 2020; the equations stand in cornea/detect/foagdd/foagdd.h).
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/image.h"

namespace cornea::study {

struct PlainCorner {
  int x = 0, y = 0;
  double measure = 0;  // at the first scale
  friend bool operator==(const PlainCorner&, const PlainCorner&) = default;
};

struct PlainFoagdd {
  std::vector<PlainCorner> corners;  // in reading order
  std::vector<double> first, least;  // measure of every pixel: at the first scale, of all scales
  // Milliseconds per step. The other scales take derivatives and measures at every pixel again.
  double derivatives = 0, first_measure = 0, suppression = 0, other_scales = 0;
};

// Rows are shared out among the context's threads; the loops are otherwise the plain ones.
PlainFoagdd plain_foagdd(const Context& cpu, HostView<const std::uint8_t> image);

}  // namespace cornea::study
