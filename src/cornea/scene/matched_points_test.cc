// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/matched_points.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "cornea/core/error.h"

namespace cornea {
namespace {

// The distance of the second point from the epipolar line of the first, pixels.
double distance_to_line(const std::array<double, 9>& F, const Correspondence& m) {
  const double a = F[0] * m.x1 + F[1] * m.y1 + F[2], b = F[3] * m.x1 + F[4] * m.y1 + F[5];
  return std::abs(a * m.x2 + b * m.y2 + F[6] * m.x1 + F[7] * m.y1 + F[8]) / std::hypot(a, b);
}

TEST(MatchedPoints, SatisfyTheirFundamentalMatrix) {
  const auto points = make_matched_points({.count = 300, .outliers = 0.4, .noise = 0, .seed = 4});
  ASSERT_EQ(points.matches.size(), 300u);
  EXPECT_EQ(std::count(points.inliers.begin(), points.inliers.end(), 1), 180);
  int far = 0;
  for (std::size_t i = 0; i < points.matches.size(); ++i) {
    const double error = distance_to_line(points.F, points.matches[i]);
    if (points.inliers[i]) {
      EXPECT_LT(error, 0.001);
    } else {
      far += error > 5;
    }
  }
  EXPECT_GT(far, 100);
}

TEST(MatchedPoints, HaveTheRequestedNoise) {
  const auto points = make_matched_points({.count = 2000, .noise = 0.5, .seed = 5});
  double square = 0;
  for (const Correspondence& m : points.matches) {
    square += std::pow(distance_to_line(points.F, m), 2) / points.matches.size();
  }
  // The distance is perpendicular to the epipolar line and contains the noise of both points.
  EXPECT_NEAR(std::sqrt(square), 0.5 * std::sqrt(2.0), 0.15);
  EXPECT_EQ(points.matches, make_matched_points({.count = 2000, .noise = 0.5, .seed = 5}).matches);
  EXPECT_NE(points.matches, make_matched_points({.count = 2000, .noise = 0.5, .seed = 6}).matches);
}

TEST(MatchedPoints, RejectInvalidOptions) {
  EXPECT_THROW(make_matched_points({.outliers = 1.5}), Error);
  EXPECT_THROW(make_matched_points({.noise = -1}), Error);
}

}  // namespace
}  // namespace cornea
