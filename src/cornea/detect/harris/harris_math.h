// SPDX-License-Identifier: Apache-2.0
// The Harris and Shi-Tomasi formulas that the CPU and CUDA share.
#pragma once

#include <cmath>

#include "cornea/core/host_device.h"
#include "cornea/detect/harris/harris.h"

namespace cornea::harris {

inline constexpr int kLargestHarrisRadius = 7;

// The options in the form that the inner loops need. Sums are over raw derivatives (Sobel on
// 0..255); one factor at the end scales the response to the units of the header.
struct HarrisFormula {
  CornerMeasure measure = CornerMeasure::harris;
  int radius = 1;
  bool box = true;                                  // all weights are 1
  float weight[2 * kLargestHarrisRadius + 1] = {};  // of the window, along one axis
  float k = 0.04f;
  float scale = 1;
};

// 3 x 3 Sobel derivatives; a, m, b are the rows above, at and below the pixel. Integers (for 8-bit
// pixels) and floats give the same values, because all are integers below 2^24.
template <class V>
CORNEA_HD inline V sobel_x(V a0, V a2, V m0, V m2, V b0, V b2) {
  return (a2 - a0) + 2 * (m2 - m0) + (b2 - b0);
}
template <class V>
CORNEA_HD inline V sobel_y(V a0, V a1, V a2, V b0, V b1, V b2) {
  return (b0 - a0) + 2 * (b1 - a1) + (b2 - a2);
}

// The response of the summed tensor (xx xy / xy yy).
CORNEA_HD inline float harris_response(float xx, float xy, float yy, float k, float scale) {
  const float trace = xx + yy;
  return scale * (xx * yy - xy * xy - k * (trace * trace));
}
CORNEA_HD inline float shi_tomasi_response(float xx, float xy, float yy, float scale) {
  const float half_sum = 0.5f * xx + 0.5f * yy, half_difference = 0.5f * xx - 0.5f * yy;
  return scale * (half_sum - sqrtf(half_difference * half_difference + xy * xy));
}

}  // namespace cornea::harris
