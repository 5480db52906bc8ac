// SPDX-License-Identifier: Apache-2.0
// The correspondences of a pair as the estimators use them, shared by CPU and CUDA: normalised
// coordinates, and the size of a pixel in them.
//
// A `Team` holds the points of one pair and computes sums over them: on the CPU in a loop
// (ransac/host_team.h), on CUDA with a block of threads that all run the same functions on the same
// numbers (ransac/block_team.h). `Metric` is the distance that it scores with.
//
//   team.count()              number of correspondences
//   team.point(i)             correspondence i, normalised
//   team.sums<K>(out, f)      K sums of the terms that f(point, terms) writes if it returns true,
//                             added in kSumLanes lanes (i % kSumLanes) and then pairwise
//   team.score(m)             cost and inliers of a model at the threshold of the search
//   team.score(m, scale)      at another threshold
//   team.cost_alone(m, scale) the cost alone, computed by one thread on CUDA
//   team.float_point(i)       correspondence i, normalised, as floats
//   team.list(f)              stores the correspondences for which f(point) is true, in order;
//   team.listed(k)            index of the k-th of them; team.list returns their number
//   team.best_of(count, f)    the smallest cost f(h, matrix) for h < count, and the
//                             matrix that f wrote for it
//   team.histogram(bins, f)   counts of the bins f(point); a negative bin is not counted
#pragma once

#include <cmath>

#include "cornea/core/host_device.h"

namespace cornea::geometry {

inline constexpr int kSumLanes = 128;
inline constexpr int kHistogramBins = 64;

struct PointPair {
  double x1, y1, x2, y2;
};

struct FloatPoint {
  float x1, y1, x2, y2;
};

// The size of a pixel in normalised coordinates.
struct Scales {
  double first, second;  // normalised units per pixel, in each image
};

struct Normalisation {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;  // the means
  Scales scales{};                        // 0 if all points of an image are equal

  CORNEA_HD PointPair operator()(float ax, float ay, float bx, float by) const {
    return {(ax - x1) * scales.first, (ay - y1) * scales.first, (bx - x2) * scales.second,
            (by - y2) * scales.second};
  }
};

// Trimmed normalisation: the mean of each image's points and their mean distance from it, first
// over all points, then twice over those within kFar times the last mean distance, so that a few
// extreme coordinates have no influence. `team` holds the points in pixels.
template <class Team>
CORNEA_HD Normalisation normalise(Team& team) {
  constexpr double kFar = 4, kRootOfTwo = 1.4142135623730951;
  Normalisation result;
  double reach[2] = {-1, -1};  // negative: no limit yet
  for (int iteration = 0; iteration < 3; ++iteration) {
    const Normalisation last = result;
    auto near = [&](const PointPair& p) {
      const double ax = p.x1 - last.x1, ay = p.y1 - last.y1;
      const double bx = p.x2 - last.x2, by = p.y2 - last.y2;
      return iteration == 0 ||
             (sqrt(ax * ax + ay * ay) <= reach[0] && sqrt(bx * bx + by * by) <= reach[1]);
    };
    double sums[5];
    team.template sums<5>(sums, [&](const PointPair& p, double* terms) {
      terms[0] = 1;
      terms[1] = p.x1;
      terms[2] = p.y1;
      terms[3] = p.x2;
      terms[4] = p.y2;
      return near(p);
    });
    const double n = sums[0];
    if (!(n > 0)) break;
    result.x1 = sums[1] / n, result.y1 = sums[2] / n;
    result.x2 = sums[3] / n, result.y2 = sums[4] / n;
    double lengths[2];
    team.template sums<2>(lengths, [&](const PointPair& p, double* terms) {
      const double ax = p.x1 - result.x1, ay = p.y1 - result.y1;
      const double bx = p.x2 - result.x2, by = p.y2 - result.y2;
      terms[0] = sqrt(ax * ax + ay * ay);
      terms[1] = sqrt(bx * bx + by * by);
      return near(p);
    });
    result.scales.first = lengths[0] > 0 ? kRootOfTwo * n / lengths[0] : 0;
    result.scales.second = lengths[1] > 0 ? kRootOfTwo * n / lengths[1] : 0;
    reach[0] = kFar * lengths[0] / n;
    reach[1] = kFar * lengths[1] / n;
  }
  return result;
}

}  // namespace cornea::geometry
