// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/camera.h"

#include <cmath>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/random.h"

namespace cornea {
namespace {

using namespace core;

using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

Vector3d point_in(Random& random, double size) {
  return {random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
}

Camera left_camera() { return look_at({-2.0, -9.0, 1.5}, {0.2, 0.0, 0.3}, 640, 480, 600.0, 0.1); }
Camera right_camera() { return look_at({1.5, -8.0, 2.5}, {0.0, 0.3, 0.0}, 800, 500, 750.0, -0.2); }

// The epipolar constraint in pixels: the distance of the second point from the epipolar line of the
// first.
double epipolar_distance(const Matrix3d& F, const Vector2d& a, const Vector2d& b) {
  const Vector3d line = F * a.homogeneous();
  return std::abs(line.dot(b.homogeneous())) / line.head<2>().norm();
}

TEST(Camera, ProjectsPointsOnItsRaysBackToThePixel) {
  const Camera camera = left_camera();
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Vector2d pixel(random.uniform(0.0, 639.0), random.uniform(0.0, 479.0));
    const double depth = random.uniform(0.5, 20.0);
    const Vector3d world = camera.centre() + depth * camera.ray(pixel.x(), pixel.y());
    EXPECT_NEAR((camera.project(world) - pixel).norm(), 0.0, 1e-9);
    EXPECT_NEAR(camera.depth(world), depth, 1e-9);
  }
}

TEST(Camera, HasItsTargetInTheMiddleAndIsUpright) {
  const Camera camera = look_at({3.0, -4.0, 2.0}, {0.0, 0.0, 0.0}, 641, 481, 500.0);
  EXPECT_NEAR((camera.project(Vector3d::Zero()) - Vector2d(320.0, 240.0)).norm(), 0.0, 1e-9);
  EXPECT_LT(camera.project(Vector3d(0.0, 0.0, 0.5)).y(), 239.0);
  EXPECT_NEAR(camera.project(Vector3d(0.0, 0.0, 0.5)).x(), 320.0, 1e-9);
  EXPECT_NEAR((camera.R * camera.R.transpose() - Matrix3d::Identity()).norm(), 0.0, 1e-12);
  EXPECT_NEAR(camera.R.determinant(), 1.0, 1e-12);
  EXPECT_NEAR((camera.centre() - Vector3d(3.0, -4.0, 2.0)).norm(), 0.0, 1e-12);
}

TEST(Camera, RefusesToLookStraightDown) {
  EXPECT_THROW(look_at({0.0, 0.0, 5.0}, {0.0, 0.0, 0.0}, 10, 10, 5.0), Error);
}

TEST(Fundamental, HoldsForTheImagesOfEveryPoint) {
  const Camera a = left_camera(), b = right_camera();
  const Matrix3d F = fundamental(a, b);
  EXPECT_NEAR(F.norm(), 1.0, 1e-12);
  EXPECT_NEAR(F.determinant(), 0.0, 1e-12);
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const Vector3d world = point_in(random, 3.0);
    EXPECT_LT(epipolar_distance(F, a.project(world), b.project(world)), 1e-9);
    EXPECT_NEAR(b.project(world).homogeneous().dot(F * a.project(world).homogeneous()), 0.0, 1e-9);
  }
  // The constraint does not hold for the images of two different points.
  EXPECT_GT(epipolar_distance(F, a.project({1, 0, 0}), b.project({0, 1, 1})), 5.0);
}

TEST(Fundamental, DoesNotExistForCamerasWithTheSameCentre) {
  Camera turned = left_camera();
  const Matrix3d turn = Eigen::AngleAxisd(0.2, Vector3d::UnitY()).toRotationMatrix();
  turned.R = turn * turned.R;
  turned.t = turn * turned.t;
  EXPECT_THROW(fundamental(left_camera(), turned), Error);
}

TEST(PlaneHomography, MapsTheImagesOfThePlanesPoints) {
  const Camera a = left_camera(), b = right_camera();
  const Plane plane{Vector3d(0.3, -1.0, 0.2).normalized(), 0.7};
  const Matrix3d H = plane_homography(a, b, plane);
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    Vector3d world = point_in(random, 3.0);
    world += (plane.offset - plane.normal.dot(world)) * plane.normal;
    EXPECT_NEAR((transform(H, a.project(world)) - b.project(world)).norm(), 0.0, 1e-8);
  }
  const Vector3d beside = Vector3d(0.5, 2.0, 0.5);
  EXPECT_GT((transform(H, a.project(beside)) - b.project(beside)).norm(), 1.0);
}

TEST(PlaneHomography, RefusesAPlaneThroughTheCamera) {
  const Camera a = left_camera();
  EXPECT_THROW(plane_homography(a, right_camera(), {Vector3d::UnitZ(), a.centre().z()}), Error);
}

TEST(MovedCamera, ProjectsToTheMovedPixels) {
  Camera camera = right_camera();
  camera.K << 700.0, 3.0, 333.0, 0.0, 650.0, 211.0, 0.0, 0.0, 1.0;  // with skew, fx != fy
  const double c = 1.7 * std::cos(2.2), s = 1.7 * std::sin(2.2);
  Matrix3d M;
  M << c, -s, 120.0, s, c, -40.0, 0.0, 0.0, 1.0;
  const Camera moved = moved_camera(camera, M, 900, 700);
  EXPECT_EQ(moved.width, 900);
  EXPECT_NEAR((moved.R * moved.R.transpose() - Matrix3d::Identity()).norm(), 0.0, 1e-12);
  EXPECT_EQ(moved.K(1, 0), 0.0);
  EXPECT_GT(moved.K(0, 0), 0.0);
  EXPECT_GT(moved.K(1, 1), 0.0);
  Random random(4);
  for (int i = 0; i < 50; ++i) {
    const Vector3d world = point_in(random, 3.0);
    EXPECT_NEAR((moved.project(world) - transform(M, camera.project(world))).norm(), 0.0, 1e-9);
  }
}

TEST(MovedCamera, RefusesAMirror) {
  EXPECT_THROW(moved_camera(left_camera(), Vector3d(-1.0, 1.0, 1.0).asDiagonal(), 640, 480), Error);
}

}  // namespace
}  // namespace cornea
