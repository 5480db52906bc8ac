// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/relative_pose.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace cornea {
namespace {

using Matrix = std::array<double, 9>;

// Rodrigues' formula.
Matrix turned(std::array<double, 3> a, double degrees) {
  const double length = std::hypot(a[0], a[1], a[2]);
  for (double& v : a) v /= length;
  const double s = std::sin(degrees * std::numbers::pi / 180);
  const double c = std::cos(degrees * std::numbers::pi / 180), d = 1 - c;
  return {c + d * a[0] * a[0],        d * a[0] * a[1] - s * a[2], d * a[0] * a[2] + s * a[1],
          d * a[1] * a[0] + s * a[2], c + d * a[1] * a[1],        d * a[1] * a[2] - s * a[0],
          d * a[2] * a[0] - s * a[1], d * a[2] * a[1] + s * a[0], c + d * a[2] * a[2]};
}

TEST(RelativePose, FindsAngleAndAxisOfARotation) {
  const double root = std::sqrt(14.0);
  for (const double degrees : {1e-6, 0.01, 12.5, 90.0, 179.0, 180.0}) {
    const Rotation r = rotation_of(turned({1, -2, 3}, degrees));
    EXPECT_NEAR(r.degrees, degrees, 1e-9 + 1e-12 * degrees);
    // A rotation by 180 degrees has two axes, opposite to each other.
    const double sign = degrees == 180 && r.axis[0] < 0 ? -1 : 1;
    EXPECT_NEAR(sign * r.axis[0], 1 / root, 1e-5) << degrees;
    EXPECT_NEAR(sign * r.axis[1], -2 / root, 1e-5) << degrees;
    EXPECT_NEAR(sign * r.axis[2], 3 / root, 1e-5) << degrees;
  }
  const Rotation still = rotation_of({1, 0, 0, 0, 1, 0, 0, 0, 1});
  EXPECT_EQ(still.degrees, 0);
  EXPECT_EQ(still.axis, (std::array<double, 3>{}));
  const Rotation none = rotation_of({});  // as in a result without a pose
  EXPECT_EQ(none.degrees, 0);
  EXPECT_EQ(none.axis, (std::array<double, 3>{}));
}

TEST(RelativePose, TheAxisJustBelow180DegreesHasItsSign) {
  for (const double x : {1.0, -1.0}) {
    const Rotation r = rotation_of(turned({x, 0, 0}, 179.99999));
    EXPECT_NEAR(r.degrees, 179.99999, 1e-7);
    EXPECT_NEAR(r.axis[0], x, 1e-9);
  }
}

TEST(RelativePose, FundamentalOfEHoldsForPixelsAndHasTheEpipoles) {
  const IntrinsicsPair cameras = {{800, 810, 320, 240}, {1200, 1190, 500, 400}};
  const Matrix R = turned({0.1, 1, 0.2}, 15);
  const std::array<double, 3> t = {-0.9, 0.1, 0.4};
  Matrix E{};
  for (std::size_t j = 0; j < 3; ++j) {
    E[j] = t[1] * R[6 + j] - t[2] * R[3 + j];
    E[3 + j] = t[2] * R[j] - t[0] * R[6 + j];
    E[6 + j] = t[0] * R[3 + j] - t[1] * R[j];
  }
  const Matrix F = fundamental_of(E, cameras);
  double squares = 0;
  for (const double v : F) squares += v * v;
  EXPECT_NEAR(squares, 1, 1e-12);
  for (const auto& X : {std::array{0.3, -0.2, 4.0}, std::array{-1.0, 0.7, 7.0}}) {
    std::array<double, 3> Y = t;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) Y[i] += R[3 * i + j] * X[j];
    }
    const auto a = cameras.first.pixel(X[0] / X[2], X[1] / X[2]);
    const auto b = cameras.second.pixel(Y[0] / Y[2], Y[1] / Y[2]);
    const Correspondence match = {float(a[0]), float(a[1]), float(b[0]), float(b[1])};
    EXPECT_LT(epipolar_distance(F, match), 1e-3);
  }
  const Epipoles e = epipoles_of(F);
  ASSERT_TRUE(e.first && e.second);
  const auto second = cameras.second.pixel(t[0] / t[2], t[1] / t[2]);
  EXPECT_NEAR((*e.second)[0], second[0], 1e-6);
  EXPECT_NEAR((*e.second)[1], second[1], 1e-6);
  std::array<double, 3> centre{};  // of the second camera
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) centre[i] -= R[3 * j + i] * t[j];
  }
  const auto first = cameras.first.pixel(centre[0] / centre[2], centre[1] / centre[2]);
  EXPECT_NEAR((*e.first)[0], first[0], 1e-6);
  EXPECT_NEAR((*e.first)[1], first[1], 1e-6);
  // The epipoles of a rectified pair are at infinity.
  const Epipoles far = epipoles_of({0, 0, 0, 0, 0, -1, 0, 1, 0});
  EXPECT_FALSE(far.first || far.second);
  EXPECT_FALSE(epipoles_of({}).first);
}

TEST(RelativePose, UndistortsPixels) {
  Intrinsics camera = {800, 810, 320, 240, -0.2, 0.03, 0.001, -0.002};
  const auto bent = camera.pixel(0.3, -0.2);
  const auto p = undistorted(camera, bent[0], bent[1]);
  ASSERT_TRUE(p);
  EXPECT_NEAR((*p)[0], 800 * 0.3 + 320, 1e-6);
  EXPECT_NEAR((*p)[1], 810 * -0.2 + 240, 1e-6);
  // Undistorts both points of a match; empty if one of them has no undistorted position.
  const Correspondence match{float(bent[0]), float(bent[1]), 12.5f, 7};
  const Intrinsics straight{800, 810, 320, 240};
  const auto both = undistorted({camera, straight}, match);
  ASSERT_TRUE(both);
  EXPECT_NEAR(both->x1, (*p)[0], 1e-3);
  EXPECT_NEAR(both->y1, (*p)[1], 1e-3);
  EXPECT_EQ(both->x2, 12.5f);
  const Intrinsics folded{800, 810, 320, 240, -0.3};
  EXPECT_FALSE(undistorted({straight, folded}, {1, 2, 5000, 5000}));
  camera.k1 = camera.k2 = camera.p1 = camera.p2 = 0;
  EXPECT_EQ(undistorted(camera, 12.5, 7), (std::array<double, 2>{12.5, 7}));
}

}  // namespace
}  // namespace cornea
