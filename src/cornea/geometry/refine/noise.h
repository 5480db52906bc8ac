// SPDX-License-Identifier: Apache-2.0
// Estimates the noise of a pair's correspondences from their distances to a model, and fits the
// model at that width. Shared by CPU and CUDA. `Team`: points.h.
//
// The search needs a wide threshold, or it fails on pairs whose points are localised only to a few
// pixels. The final fit needs a threshold no wider than the noise, or points beyond it bias the
// fit. The search therefore uses a wide threshold and the final fits follow the noise: the
// threshold becomes kMediansPerThreshold times the median of the distances below it, as long as
// that narrows it.
#pragma once

#include <cstdint>

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/matrix3.h"
#include "cornea/geometry/points.h"

namespace cornea::geometry {

// 98% of normally distributed distances are below 3.4 medians.
inline constexpr double kMediansPerThreshold = 3.4;
// In pixels. Below this the median depends more on the number of points than on their noise.
inline constexpr double kNarrowest = 0.8;
// If the median of the distances below a threshold exceeds this fraction of it, the distances are
// spread evenly up to the threshold, so the noise is wider than the threshold.
inline constexpr double kEvenMedian = 0.43;

// The median of the distances below `limit`, in pixels, interpolated within a histogram of 64 bins;
// distance(p) is in pixels. `below` becomes the number of these distances.
template <class Team, class Distance>
CORNEA_HD double median_below(Team& team, double limit, const Distance& distance, int& below) {
  std::uint32_t bins[kHistogramBins];
  const double bins_per_pixel = kHistogramBins / limit;
  team.histogram(bins, [&](const PointPair& p) {
    const double d = distance(p) * bins_per_pixel;
    return d < kHistogramBins ? int(d) : -1;  // NaN is not counted
  });
  std::uint32_t total = 0;
  for (int i = 0; i < kHistogramBins; ++i) total += bins[i];
  below = int(total);
  double before = 0;
  for (int i = 0; i < kHistogramBins; ++i) {
    if (2 * (before + bins[i]) >= total && bins[i] > 0) {
      return (i + (total / 2.0 - before) / bins[i]) / bins_per_pixel;
    }
    before += bins[i];
  }
  return limit;
}

// Fits a model at a threshold that follows the noise down. fit(m, threshold) minimises the robust
// error at a threshold, starting from m; distance(m, p) is a point's distance in pixels. Returns
// the final threshold; `wider` becomes true if the noise is wider than the initial one.
template <class Team, class Fit, class Distance>
CORNEA_HD double follow_noise(Team& team, double threshold, int iterations, const Fit& fit,
                              const Distance& distance, Matrix3<double>& m, bool& wider) {
  constexpr int kFewest = 8;
  const double narrowest = threshold < kNarrowest ? threshold : kNarrowest;
  wider = false;
  for (int i = 0; i < iterations; ++i) {
    int below = 0;
    const double median = median_below(
        team, threshold, [&](const PointPair& p) { return distance(m, p); }, below);
    if (below < kFewest) break;
    if (i == 0) wider = median > kEvenMedian * threshold;
    const double wanted = kMediansPerThreshold * median;
    const double next = wanted < narrowest ? narrowest : wanted;
    if (!(next < 0.98 * threshold)) break;
    threshold = next;
    m = fit(m, threshold);
  }
  return threshold;
}

}  // namespace cornea::geometry
