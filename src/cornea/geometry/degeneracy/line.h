// SPDX-License-Identifier: Apache-2.0
// Points on a line, which determine neither F nor E nor H. Shared by CPU and CUDA. `Team`:
// points.h.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/points.h"
#include "cornea/geometry/ransac/search.h"

namespace cornea::geometry {

// normal . (x, y) + offset = 0, the normal of length 1.
struct Line {
  double normal_x, normal_y, offset;
  CORNEA_HD double distance(double x, double y) const {
    return fabs(normal_x * x + normal_y * y + offset);
  }
};

// Horizontal if the direction is 0.
CORNEA_HD inline Line line_through(double x, double y, double along_x, double along_y) {
  const double length = sqrt(along_x * along_x + along_y * along_y);
  if (!(length > 0)) return {0, 1, -y};
  const double normal_x = -along_y / length, normal_y = along_x / length;
  return {normal_x, normal_y, -(normal_x * x + normal_y * y)};
}

// The line from which points deviate least, and the variance of their distances. sums: their number
// and the sums of x, y, xx, xy and yy.
CORNEA_HD inline Line fit_line(const double* sums, double& variance) {
  const double x = sums[1] / sums[0], y = sums[2] / sums[0];
  const double xx = sums[3] / sums[0] - x * x, xy = sums[4] / sums[0] - x * y;
  const double yy = sums[5] / sums[0] - y * y;
  const double half = (xx - yy) / 2, r = sqrt(half * half + xy * xy);
  variance = (xx + yy) / 2 - r;
  // An eigenvector of the covariance: of its two forms, the one without cancellation.
  return half < 0 ? line_through(x, y, xy, r - half) : line_through(x, y, half + r, xy);
}

// Lines through kLinesTried pairs of points are judged by at most kLineJudges points. From 32
// points on, no two of the first half of the pairs share a point, so that a few wrong points cannot
// spoil all.
inline constexpr int kLinesTried = 32, kLineJudges = 32;
inline constexpr int kLineFits = 3;
// Points farther from the line than this many widths are off it.
inline constexpr double kOffLine = 3;
// Fewer than kLeastSupport points may be off it, plus one per this many points that do not count.
inline constexpr int kOthersPerPointOff = 50;
// The narrowest width, pixels, of a line, and the widest one where the noise is not known.
inline constexpr double kNarrowestLine = 0.8, kWidestLine = 3;

CORNEA_HD inline double line_width(double threshold) {
  return threshold < kWidestLine ? threshold : kWidestLine;
}

// Whether, in one image, the points for which counts(p) is true lie on a line: apart from a few,
// and less than a third, their standard deviation from it is below the width, pixels. A line and a
// few wrong matches fit many models, and of many other points some agree with one by chance.
template <class Team, class Counts>
CORNEA_HD bool on_a_line(Team& team, const Scales& scales, double width, const Counts& counts) {
  const int points = team.list(counts), half = points / 2;
  if (points < 3) return false;
  const int judges = points < kLineJudges ? points : kLineJudges;
  for (int image = 0; image < 2; ++image) {
    const double pixel = image == 0 ? scales.first : scales.second;
    const double widest = (width > kNarrowestLine ? width : kNarrowestLine) * pixel;
    const double off_line = kOffLine * widest;
    const auto x = [&](const auto& p) { return double(image == 0 ? p.x1 : p.x2); };
    const auto y = [&](const auto& p) { return double(image == 0 ? p.y1 : p.y2); };
    const RoundBest best = team.best_of(kLinesTried, [&](int k, Matrix3<float>& model) {
      constexpr int kApart = kLinesTried / 2;
      const int i = k % kApart * half / kApart, j = k < kApart ? points - 1 - i : i + half / 2 + 1;
      const auto a = team.float_point(team.listed(i)), b = team.float_point(team.listed(j));
      const Line line = line_through(x(a), y(a), x(b) - x(a), y(b) - y(a));
      model.v[0] = float(line.normal_x), model.v[1] = float(line.normal_y);
      model.v[2] = float(line.offset);
      std::uint32_t off = 0;
      for (int i = 0; i < judges; ++i) {
        const auto p = team.float_point(team.listed(int(std::int64_t(i) * points / judges)));
        off += line.distance(x(p), y(p)) < off_line ? 0 : 1;
      }
      return off;
    });
    if (2 * best.cost() > std::uint32_t(judges)) continue;
    Line line = {best.f.v[0], best.f.v[1], best.f.v[2]};
    double near = 0, variance = 0;
    for (int fit = 0; fit < kLineFits; ++fit) {
      double s[6];
      team.template sums<6>(s, [&](const PointPair& p, double* terms) {
        const double values[6] = {1, x(p), y(p), x(p) * x(p), x(p) * y(p), y(p) * y(p)};
        CORNEA_UNROLL
        for (int k = 0; k < 6; ++k) terms[k] = values[k];
        return line.distance(x(p), y(p)) < off_line && counts(p);
      });
      near = s[0];
      line = fit_line(s, variance);
    }
    const double off = points - near;
    const double most = kLeastSupport + double(team.count() - points) / kOthersPerPointOff;
    if (variance < widest * widest && off < most && 3 * off < points) return true;
  }
  return false;
}

}  // namespace cornea::geometry
