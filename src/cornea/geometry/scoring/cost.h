// SPDX-License-Identifier: Apache-2.0
// The cost of a model, for every metric: sum min((distance / threshold)^2, 1) over all
// correspondences (MSAC: P. Torr, A. Zisserman, "MLESAC", CVIU 2000), each term in whole steps of
// 1/1024, so that sums are exact in any order.
#pragma once

#include <cstdint>

#include "cornea/core/host_device.h"
#include "cornea/geometry/points.h"

namespace cornea::geometry {

// Steps per unit of cost, and the largest number of correspondences per pair, with which the sum of
// the terms fits into 32 bits.
inline constexpr int kCostSteps = 1024;
inline constexpr int kMostMatches = 4'000'000;
inline constexpr std::uint32_t kNoCost = ~0u;  // of a sample that does not determine a model
inline constexpr std::uint32_t kRefused = kNoCost - 1;  // of a sample whose model is rejected
CORNEA_HD constexpr bool is_cost(std::uint32_t cost) { return cost < kRefused; }

// The squared distance divided by the squared threshold, as a cost: at most kCostSteps, the cost of
// outliers. NaN, which points at an epipole give, counts as an outlier.
CORNEA_HD inline std::uint32_t cost_of(float share) {
  return share < 1.0f ? static_cast<std::uint32_t>(share * kCostSteps) : std::uint32_t(kCostSteps);
}

// The constants of a pair's costs.
struct CostScale {
  float r, rr;    // second scale divided by the first, and its square
  float inverse;  // 1 / threshold^2, in normalised units of the second image
};
CORNEA_HD inline CostScale cost_scale(const Scales& scales, double threshold) {
  const double r = scales.second / scales.first, t = threshold * scales.second;
  return {float(r), float(r * r), float(1 / (t * t))};
}

struct Score {
  std::uint32_t cost = kNoCost, inliers = 0;
};

}  // namespace cornea::geometry
