// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/pose/pose.h"

#include <gtest/gtest.h>

#include "cornea/geometry/pose/calibrated_scene_testing.h"

namespace cornea::geometry {
namespace {

using namespace testing;

double length(const Vector3<double>& v) { return std::sqrt(dot(v, v)); }
Vector3<double> minus(const Vector3<double>& a, const Vector3<double>& b) {
  return sum(a, scaled(b, -1));
}
auto every = [](const PointPair&) { return true; };

TEST(Pose, CandidatesAreFourPosesOfE) {
  core::Random random(1);
  for (int run = 0; run < 100; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 1, Motion::any, false, 1);
    Pose poses[4];
    poses_of(essential_frame(scene.essential), poses);
    bool found = false;
    for (const Pose& pose : poses) {
      EXPECT_LT(difference(of_norm_one(essential_of(pose)), scene.essential), 1e-14);
      const Matrix3<double> c = cofactors(pose.rotation);
      for (int i = 0; i < 9; ++i) EXPECT_NEAR(c.v[i], pose.rotation.v[i], 1e-14);  // a rotation
      found |= angle_between(pose.rotation, scene.rotation) < 1e-7 &&
               length(minus(pose.translation, scene.translation)) < 1e-7;
    }
    EXPECT_TRUE(found);
  }
}

TEST(Pose, IsTheOneWithThePointsInFrontOfBothCameras) {
  core::Random random(2);
  for (const Motion motion : {Motion::any, Motion::forward, Motion::sideways}) {
    for (int run = 0; run < 50; ++run) {
      const CalibratedScene scene = calibrated_scene(random, 30, motion, false, 1);
      HostTeam<EpipolarMetric> team = team_of(scene, random, 0, 0.3);
      Matrix3<double> e = scene.essential;
      if (run % 2) {
        for (double& v : e.v) v = -v;
      }
      const InlierTest inlier = inlier_test(e, kPixel, 0.1);
      double in_front = 0;
      const Pose pose = choose_pose(team, e, inlier, in_front);
      EXPECT_LT(angle_between(pose.rotation, scene.rotation), 1e-7);
      EXPECT_LT(length(minus(pose.translation, scene.translation)), 1e-7);
      EXPECT_GT(in_front, 10);
      EXPECT_LE(in_front, 30);
    }
  }
}

TEST(Pose, TriangulatesExactRays) {
  core::Random random(3);
  const CalibratedScene scene = calibrated_scene(random, 200);
  const Pose pose = {scene.rotation, scene.translation};
  for (std::size_t i = 0; i < scene.rays.size(); ++i) {
    Vector3<double> point;
    ASSERT_TRUE(triangulate(pose, scene.rays[i], kPixel, point));
    EXPECT_LT(length(minus(point, scene.points[i])), 1e-8 * length(scene.points[i]));
    const PointPair& p = scene.rays[i];
    // With the opposite translation the point is behind the cameras.
    EXPECT_FALSE(triangulate({pose.rotation, scaled(pose.translation, -1)}, p, kPixel, point));
  }
}

// Sum of squared reprojection errors of a point in both images, pixels.
double reprojection(const Pose& pose, const Vector3<double>& x, const PointPair& p) {
  const Vector3<double> y = sum(pose.rotation * x, pose.translation);
  const double d[4] = {x.x / x.z - p.x1, x.y / x.z - p.y1, y.x / y.z - p.x2, y.y / y.z - p.y2};
  return (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]) * kFocal * kFocal;
}

TEST(Pose, TriangulatesNoisyRaysWithTheLeastReprojectionError) {
  core::Random random(4);
  const CalibratedScene scene = calibrated_scene(random, 200);
  const Pose pose = {scene.rotation, scene.translation};
  for (PointPair p : scene.rays) {
    for (double* v : {&p.x1, &p.y1, &p.x2, &p.y2}) *v += 1 / kFocal * random.normal();
    Vector3<double> point;
    if (!triangulate(pose, p, kPixel, point)) continue;
    const double least = reprojection(pose, point, p);
    // No neighbouring point is better.
    for (int axis = 0; axis < 3; ++axis) {
      for (const double step : {-0.01, 0.01}) {
        Vector3<double> next = point;
        (axis == 0 ? next.x : axis == 1 ? next.y : next.z) += step * point.z;
        EXPECT_GT(reprojection(pose, next, p), least - 1e-4);
      }
    }
  }
}

TEST(Pose, RecognisesACameraThatOnlyRotated) {
  core::Random random(5);
  const CalibratedScene turned = calibrated_scene(random, 100, Motion::none);
  const CalibratedScene moved = calibrated_scene(random, 100);
  HostTeam<EpipolarMetric> still = team_of(turned, random, 0.3),
                           going = team_of(moved, random, 0.3);
  EXPECT_GT(count_rotated(still, rotation_test(turned.rotation, kPixel, 4), every), 95);
  EXPECT_LT(count_rotated(going, rotation_test(moved.rotation, kPixel, 4), every), 10);
  auto none = [](const PointPair&) { return false; };
  EXPECT_EQ(count_rotated(still, rotation_test(turned.rotation, kPixel, 4), none), 0);
  // Any E = [t]x R fits; R is found for every t.
  double in_front = 0;
  const Pose pose = choose_pose(still, turned.essential, every, in_front);
  EXPECT_LT(angle_between(pose.rotation, turned.rotation), 1e-7);
}

TEST(Pose, MeasuresAngles) {
  const Pose pose = {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {-1, 0, 0}};
  auto at_depth = [](double z) { return PointPair{0, 0, -1 / z, 0}; };
  EXPECT_NEAR(angle_degrees(pose, at_depth(1)), 45, 1e-12);
  EXPECT_NEAR(angle_degrees(pose, at_depth(1e9)), 180 / 3.14159265358979 * 1e-9, 1e-20);
  const std::vector<PointPair> inliers = {at_depth(1), at_depth(10), at_depth(100), at_depth(-5)};
  EXPECT_NEAR(median_angle_degrees(pose, inliers), angle_degrees(pose, at_depth(10)), 1e-12);
  EXPECT_NEAR(median_angle_degrees(pose, std::span(inliers).first(2)),
              (45 + angle_degrees(pose, at_depth(10))) / 2, 1e-12);
  EXPECT_EQ(median_angle_degrees(pose, {}), 0);
}

}  // namespace
}  // namespace cornea::geometry
