// SPDX-License-Identifier: Apache-2.0
// Points on a line, which determine neither F nor E nor H. Shared by CPU and CUDA. `Team`:
// points.h.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/points.h"
#include "cornea/geometry/ransac/search.h"

namespace cornea::geometry {

// The line through the mean of some points along which they vary most, and their variances along
// and across it.
struct Line {
  double x, y, normal_x, normal_y, along, across;
  CORNEA_HD double distance(double px, double py) const {
    return fabs((px - x) * normal_x + (py - y) * normal_y);
  }
};

// sums: of x, y, xx, xy and yy over `count` points.
CORNEA_HD inline Line line_of(double count, const double* sums) {
  const double x = sums[0] / count, y = sums[1] / count;
  const double xx = sums[2] / count - x * x, xy = sums[3] / count - x * y;
  const double yy = sums[4] / count - y * y;
  const double mean = (xx + yy) / 2, half = (xx - yy) / 2, r = sqrt(half * half + xy * xy);
  // The direction along the line is an eigenvector of the covariance; of two forms of it the one
  // without cancellation.
  const double a = half < 0 ? xy : half + r, b = half < 0 ? r - half : xy;
  const double length = sqrt(a * a + b * b);
  return {x, y, -b / length, a / length, mean + r, mean - r};
}

// If the points vary more than this across the line (as a fraction of how they vary along it), they
// are not on a line, even if some of them are wrong.
inline constexpr double kBand = 0.5;
// Points farther from the line than this many standard deviations are left out of the next fit.
inline constexpr double kNearLine = 2;
inline constexpr int kLineFits = 4;
// A point is off a line whose points deviate from it by a threshold if it is this many thresholds
// away.
inline constexpr double kOffLine = 3;

// Whether, in one image, the points for which counts(p) is true lie within a threshold, pixels, of
// a line, apart from fewer than kLeastSupport: a line and a few wrong matches fit many models.
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
    const double width = threshold * (image == 0 ? scales.first : scales.second);
    Line line = line_of(s[0], s + 1 + 5 * image);
    if (line.across < width * width) return true;
    for (int i = 0; i < kLineFits && line.across < kBand * kBand * line.along; ++i) {
      const double deviation = kNearLine * sqrt(line.across);
      const double near = deviation > kOffLine * width ? deviation : kOffLine * width;
      double t[6];
      team.template sums<6>(t, [&](const PointPair& p, double* terms) {
        const double x = image == 0 ? p.x1 : p.x2, y = image == 0 ? p.y1 : p.y2;
        const double values[6] = {1, x, y, x * x, x * y, y * y};
        CORNEA_UNROLL
        for (int k = 0; k < 6; ++k) terms[k] = values[k];
        return counts(p) && line.distance(x, y) < near;
      });
      if (t[0] < kLeastSupport) break;
      line = line_of(t[0], t + 1);
      if (!(line.across < width * width)) continue;
      double off[1];
      team.template sums<1>(off, [&](const PointPair& p, double* terms) {
        terms[0] = 1;
        const double x = image == 0 ? p.x1 : p.x2, y = image == 0 ? p.y1 : p.y2;
        return counts(p) && !(line.distance(x, y) < kOffLine * width);
      });
      if (off[0] < kLeastSupport) return true;
      break;
    }
  }
  return false;
}

}  // namespace cornea::geometry
