// SPDX-License-Identifier: Apache-2.0
// For tests of the fundamental matrix: an estimator on every device, and the reference for its
// results.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/geometry/two_view/fundamental_study.h"
#include "cornea/scene/matched_points.h"

namespace cornea::testing {

inline double median_distance(const std::array<double, 9>& F,
                              const std::vector<Correspondence>& points) {
  std::vector<double> distances;
  for (const Correspondence& p : points) distances.push_back(epipolar_distance(F, p));
  std::nth_element(distances.begin(), distances.begin() + distances.size() / 2, distances.end());
  return distances[distances.size() / 2];
}

inline void expect_equal(const FundamentalResult& a, const FundamentalResult& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.F, b.F);
  EXPECT_EQ(a.H, b.H);
  EXPECT_EQ(a.inliers, b.inliers);
  EXPECT_EQ(a.inlier_count, b.inlier_count);
  EXPECT_EQ(a.hypotheses, b.hypotheses);
  EXPECT_EQ(a.rounds, b.rounds);
  EXPECT_EQ(a.stop, b.stop);
}

class FundamentalOnDevice : public OnEveryDevice {
 protected:
  FundamentalResult estimate(const std::vector<Correspondence>& matches,
                             const FundamentalOptions& options = {}) {
    return geometry::estimator_with_sample(context, options, options.sample).estimate(matches);
  }
};

inline std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

}  // namespace cornea::testing
