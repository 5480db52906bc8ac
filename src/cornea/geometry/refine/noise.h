// SPDX-License-Identifier: Apache-2.0
// The noise of a pair's correspondences, from their distances to a model, and the model that fits
// them at that width. Once for both devices. `Team`: points.h.
//
// A search needs a wide threshold, or it loses pairs whose points are localised to pixels; a fit
// needs one that is no wider than the noise, or points beyond it pull. So the search is wide, and
// the last fits follow the noise: the threshold becomes kMediansPerThreshold times the median
// distance of what lies below it, as long as that narrows it.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/matrix3.h"
#include "cornea/geometry/points.h"

namespace cornea::geometry {

// Of normally distributed distances 98% lie below 3.4 medians.
inline constexpr double kMediansPerThreshold = 3.4;
// Pixels: below it the median says more about the number of points than about their noise.
inline constexpr double kNarrowest = 0.8;
// Where the median of what lies below a threshold is so much of it, distances are spread evenly up
// to it, and the noise is wider than the threshold.
inline constexpr double kEvenMedian = 0.43;

// The median of the distances below `limit`, pixels, to 1/64 of it and interpolated there;
// distance(p) in pixels. `below` becomes how many they are.
template <class Team, class Distance>
CORNEA_HD double median_below(Team& team, double limit, const Distance& distance, int& below) {
  std::uint32_t bins[kHistogramBins];
  const double bins_per_pixel = kHistogramBins / limit;
  team.histogram(bins, [&](const PointPair& p) {
    const double d = distance(p) * bins_per_pixel;
    return d < kHistogramBins ? int(d) : -1;  // NaN is none
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

// Fits a model at a threshold that follows the noise down; fit(m, threshold) is the model that
// minimises the robust error at a threshold from m on, distance(m, p) a point's in pixels. Returns
// the threshold, and where the noise is wider than it, that as `wider`.
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
