// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/significance.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/random.h"

namespace cornea::geometry {
namespace {

TEST(Significance, IsTheLogarithmOfTheExpectedNumberOfModels) {
  // 5 of 6 with samples of 2: C(6, 5) C(5, 2) p^3 = 60 p^3.
  EXPECT_NEAR(significance(5, 6, 2, 0.1), -std::log(60 * 0.001), 1e-12);
  EXPECT_NEAR(significance(5, 6, 2, 2.0), -std::log(60), 1e-12);  // a probability is at most 1
  EXPECT_EQ(significance(2, 6, 2, 0.1), 0);
}

// Compares with the formula itself on both sides of the limit, also where the bound decides.
TEST(Significance, LimitsAreThoseOfTheFormula) {
  constexpr double kSide = 1000;
  int random = 0, sure = 0;
  for (const int count : {10, 40, 200, 1000, 10000}) {
    for (int inliers = 8; inliers <= count; inliers += 1 + inliers / 3) {
      for (const double threshold : {1.0, 5.0, 60.0}) {
        const bool expected = significance(inliers, count, 7, threshold / kSide) <= 0;
        const Inliers of{inliers, count, threshold};
        EXPECT_EQ(random_epipolar(of, of, 7, kSide), expected) << inliers << " of " << count;
        (expected ? random : sure) += 1;
        const double disc = std::acos(-1.0) / 4 * threshold * threshold / (kSide * kSide);
        EXPECT_EQ(random_transfer(of, kSide), significance(inliers, count, 4, disc) <= 0);
      }
    }
  }
  EXPECT_GT(random, 10);
  EXPECT_GT(sure, 10);
  // Either the inliers or the support within the noise may show that it is not chance.
  const Inliers wide{60, 150, 60}, sharp{60, 150, 1.5};
  EXPECT_TRUE(random_epipolar(wide, wide, 7, 550));
  EXPECT_FALSE(random_epipolar(wide, sharp, 7, 550));
  EXPECT_FALSE(random_epipolar(sharp, wide, 7, 550));
}

TEST(Significance, SidesAreThoseOfEvenlySpreadPoints) {
  core::Random random(3);
  std::vector<Correspondence> matches;
  for (int i = 0; i < 4000; ++i) {
    matches.push_back({float(random.uniform(100, 900)), float(random.uniform(0, 800)),
                       float(random.uniform(0, 200)), float(random.uniform(50, 250))});
  }
  EXPECT_NEAR(side_of(matches), 500, 10);  // the mean of 800 and 200
  matches.push_back({1e6f, 1e6f, 1e6f, 1e6f});
  EXPECT_NEAR(side_of(matches), 500, 10);
}

}  // namespace
}  // namespace cornea::geometry
