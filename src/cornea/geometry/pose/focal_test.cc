// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/pose/focal.h"

#include <gtest/gtest.h>

#include "cornea/geometry/pose/calibrated_scene_testing.h"

namespace cornea::geometry {
namespace {

using namespace testing;

// K2^-T E K1^-1
Matrix3<double> in_pixels(const Matrix3<double>& e, double f1, double cx1, double cy1, double f2,
                          double cx2, double cy2) {
  const Matrix3<double> k1 = {{1 / f1, 0, -cx1 / f1, 0, 1 / f1, -cy1 / f1, 0, 0, 1}};
  const Matrix3<double> k2 = {{1 / f2, 0, -cx2 / f2, 0, 1 / f2, -cy2 / f2, 0, 0, 1}};
  return transposed(k2) * e * k1;
}

TEST(FocalLengths, AreFoundFromF) {
  core::Random random(1);
  for (int run = 0; run < 200; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 1);
    const double f1 = random.uniform(500, 3000), f2 = random.uniform(500, 3000);
    Matrix3<double> f = in_pixels(scene.essential, f1, 640, 480, f2, 1000, 700);
    const double sign = run % 2 ? -7 : 2;
    for (double& v : f.v) v *= sign;
    const auto found = focal_lengths(f, 640, 480, 1000, 700);
    ASSERT_TRUE(found) << "run " << run;
    EXPECT_NEAR(found->first, f1, 1e-6 * f1);
    EXPECT_NEAR(found->second, f2, 1e-6 * f2);
  }
}

TEST(FocalLengths, AreEmptyIfFDoesNotDetermineThem) {
  EXPECT_FALSE(focal_lengths({}, 0, 0, 0, 0));
  // Parallel axes: no entry of F depends on the focal lengths.
  const Matrix3<double> sideways = {{0, 0, 0, 0, 0, -1, 0, 1, 0}};
  EXPECT_FALSE(focal_lengths(sideways, 0, 0, 0, 0));
  // Random matrices, many of which belong to no two cameras with these principal points.
  core::Random random(2);
  int refused = 0;
  for (int run = 0; run < 100; ++run) {
    Matrix3<double> f;
    for (double& v : f.v) v = random.normal();
    Vector3<double> left;
    refused += !focal_lengths(rank_two(f, left), 0, 0, 0, 0);
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace cornea::geometry
