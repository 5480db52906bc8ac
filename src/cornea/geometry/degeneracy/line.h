// SPDX-License-Identifier: Apache-2.0
// Points on a line, which determine neither F nor E nor H. Shared by CPU and CUDA.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/points.h"

namespace cornea::geometry {

// Whether, in one image, the points for which counts(p) is true lie within a threshold, pixels, of
// a line.
template <class Team, class Counts>
CORNEA_HD bool on_a_line(Team& team, const Scales& scales, double threshold, const Counts& counts) {
  double s[11];
  team.template sums<11>(s, [&](const PointPair& p, double* terms) {
    const double values[11] = {1,    p.x1, p.y1,        p.x1 * p.x1, p.x1 * p.y1, p.y1 * p.y1,
                               p.x2, p.y2, p.x2 * p.x2, p.x2 * p.y2, p.y2 * p.y2};
    CORNEA_UNROLL
    for (int i = 0; i < 11; ++i) terms[i] = values[i];
    return counts(p);
  });
  for (int image = 0; image < 2; ++image) {
    const double* of = s + 1 + 5 * image;
    const double x = of[0] / s[0], y = of[1] / s[0];
    const double xx = of[2] / s[0] - x * x, xy = of[3] / s[0] - x * y, yy = of[4] / s[0] - y * y;
    const double half = (xx - yy) / 2;
    // The smaller eigenvalue of the covariance: the variance across the line.
    const double across = (xx + yy) / 2 - sqrt(half * half + xy * xy);
    const double width = threshold * (image == 0 ? scales.first : scales.second);
    if (across < width * width) return true;
  }
  return false;
}

}  // namespace cornea::geometry
