// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/pose/homography_pose.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "cornea/geometry/pose/calibrated_scene_testing.h"

namespace cornea::geometry {
namespace {

using namespace testing;

Matrix3<double> plus_outer(Matrix3<double> m, const Vector3<double>& a, const Vector3<double>& b) {
  const double u[3] = {a.x, a.y, a.z}, v[3] = {b.x, b.y, b.z};
  for (int i = 0; i < 9; ++i) m.v[i] += u[i / 3] * v[i % 3];
  return m;
}

double distance(const Vector3<double>& a, const Vector3<double>& b) {
  const Vector3<double> d = sum(a, scaled(b, -1));
  return std::sqrt(dot(d, d));
}

struct PlaneScene {
  CalibratedScene scene;
  Vector3<double> normal;
  double away;
  Matrix3<double> homography;
};

// The plane that holds the points of calibrated_scene.
PlaneScene plane_scene(core::Random& random, Motion motion = Motion::any) {
  PlaneScene result{calibrated_scene(random, 40, motion, true), {}, 0, {}};
  const auto& p = result.scene.points;
  result.normal = unit(cross(sum(p[1], scaled(p[0], -1)), sum(p[2], scaled(p[0], -1))));
  result.away = dot(result.normal, p[0]);
  if (result.away < 0) result.normal = scaled(result.normal, -1), result.away = -result.away;
  result.homography = plus_outer(result.scene.rotation,
                                 scaled(result.scene.translation, 1 / result.away), result.normal);
  return result;
}

TEST(HomographyPose, DecompositionsReproduceH) {
  core::Random random(1);
  for (int run = 0; run < 200; ++run) {
    const PlaneScene plane = plane_scene(random);
    Matrix3<double> h = plane.homography;
    const double scale = random.uniform(-5, 5);
    for (double& v : h.v) v *= scale;
    const auto poses = decompose_homography(h);
    ASSERT_EQ(poses.size(), 4u);
    bool found = false;
    for (const PlanePose& pose : poses) {
      EXPECT_LT(difference(of_norm_one(plus_outer(pose.rotation, pose.translation, pose.normal)),
                           of_norm_one(h)),
                1e-12);
      const Matrix3<double> c = cofactors(pose.rotation);
      for (int i = 0; i < 9; ++i) EXPECT_NEAR(c.v[i], pose.rotation.v[i], 1e-12);  // a rotation
      found |= angle_between(pose.rotation, plane.scene.rotation) < 1e-5 &&
               distance(pose.normal, plane.normal) < 1e-4 &&
               distance(scaled(pose.translation, plane.away), plane.scene.translation) < 1e-4;
    }
    EXPECT_TRUE(found) << "run " << run;
  }
}

TEST(HomographyPose, IsAmongThoseWithAllPointsInFrontOfBothCameras) {
  core::Random random(2);
  int right = 0;
  constexpr int kRuns = 200;
  for (int run = 0; run < kRuns; ++run) {
    const PlaneScene plane = plane_scene(random);
    const auto pose = choose_plane_pose(plane.homography, plane.scene.rays);
    ASSERT_TRUE(pose);
    EXPECT_EQ(pose->in_front, 40);
    EXPECT_GT(dot(pose->normal, unit(plane.scene.points[0])), 0);
    right += angle_between(pose->rotation, plane.scene.rotation) < 1e-4;
  }
  // Two planes explain the same images; the wrong one is mostly seen at a slant.
  EXPECT_GT(right, 0.8 * kRuns);
}

TEST(HomographyPose, OfACameraThatOnlyRotatedIsARotation) {
  core::Random random(3);
  for (int run = 0; run < 50; ++run) {
    const PlaneScene plane = plane_scene(random, Motion::none);
    Matrix3<double> h = plane.scene.rotation;
    for (double& v : h.v) v = -3 * v + 1e-5 * random.normal();
    const auto pose = choose_plane_pose(h, plane.scene.rays);
    ASSERT_TRUE(pose);
    EXPECT_LT(angle_between(pose->rotation, plane.scene.rotation), 1e-4);
    EXPECT_EQ(dot(pose->translation, pose->translation), 0);
    EXPECT_EQ(dot(pose->normal, pose->normal), 0);
    EXPECT_EQ(pose->in_front, 40);
    const Matrix3<double> one = pose->rotation * transposed(pose->rotation);
    for (int i = 0; i < 9; ++i) EXPECT_NEAR(one.v[i], i % 4 == 0, 1e-12);
  }
}

TEST(HomographyPose, OfANearlySingularMatrixIsStillARotation) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const auto direction = [&] {
    return unit(Vector3<double>{normal(random), normal(random), normal(random)});
  };
  for (int i = 0; i < 200; ++i) {
    // Two orthogonal bases with the singular values `first`, 1 and `last` between them.
    const double first = std::pow(10.0, i % 4), last = std::pow(10.0, -4 - 2.7 * i / 200) / first;
    Matrix3<double> basis[2];
    for (Matrix3<double>& m : basis) {
      const Vector3<double> a = direction(), b = unit(cross(a, direction())), c = cross(a, b);
      m = {{a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z}};
    }
    Matrix3<double> scaled_basis = basis[1];
    for (int j = 0; j < 3; ++j) scaled_basis.v[j] *= first;
    for (int j = 6; j < 9; ++j) scaled_basis.v[j] *= last;
    const auto poses = decompose_homography(transposed(basis[0]) * scaled_basis);
    ASSERT_FALSE(poses.empty()) << last;
    for (const PlanePose& pose : poses) {
      const Matrix3<double> one = transposed(pose.rotation) * pose.rotation;
      for (int j = 0; j < 9; ++j) EXPECT_NEAR(one.v[j], j % 4 == 0, 1e-12) << last;
      EXPECT_LT(difference(of_norm_one(plus_outer(pose.rotation, pose.translation, pose.normal)),
                           of_norm_one(transposed(basis[0]) * scaled_basis)),
                1e-12);
    }
  }
  EXPECT_TRUE(decompose_homography({{1, 0, 0, 0, 1, 0, 0, 0, 1e-8}}).empty());
}

TEST(HomographyPose, ASingularMatrixHasNone) {
  EXPECT_TRUE(decompose_homography({}).empty());
  EXPECT_TRUE(decompose_homography({{-25, 5, 5, 15, -3, -3, -5, 1, 1}}).empty());  // rank 1
  EXPECT_TRUE(decompose_homography({{1, 0, 0, 0, 1e-155, 0, 0, 0, 1e-155}}).empty());
  EXPECT_TRUE(decompose_homography({{1e-155, 0, 0, 0, 1, 0, 0, 0, 1e-155}}).empty());
  EXPECT_TRUE(decompose_homography({{1, 0, 0, 0, 1, 0, 0, 0, 0}}).empty());
  EXPECT_FALSE(choose_plane_pose({{1, 2, 3, 2, 4, 6, 1, 1, 1}}, {}));
}

}  // namespace
}  // namespace cornea::geometry
