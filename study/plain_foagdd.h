// SPDX-License-Identifier: Apache-2.0
// FOAGDD as published, in double precision, step by step and at every pixel: the reference for the
// library's corners and times (W. Zhang and C. Sun, International Journal of Computer Vision 128,
// 2020; the equations are in cornea/detect/foagdd/foagdd.h).
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
  // measure of every pixel: at the first scale; minimum over all scales
  std::vector<double> first, least;
  // Milliseconds per step. The other scales compute derivatives and measures at every pixel again.
  double derivatives = 0, first_measure = 0, suppression = 0, other_scales = 0;
};

// Rows are distributed over the context's threads; the loops are otherwise plain.
PlainFoagdd plain_foagdd(const Context& cpu, HostView<const std::uint8_t> image);

}  // namespace cornea::study
