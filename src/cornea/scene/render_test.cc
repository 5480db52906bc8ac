// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/render.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/scene/scene_testing.h"

namespace cornea {
namespace {

using namespace scene;

using Eigen::Vector2d;
using Eigen::Vector3d;

PathOptions small_path(int count) { return {.count = count, .width = 240, .height = 180}; }

bool inside(const Camera& camera, const Vector2d& p) {
  return p.x() >= 1 && p.y() >= 1 && p.x() < camera.width - 2 && p.y() < camera.height - 2;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

TEST(Render, APointHasTheSameBrightnessInTwoViews) {
  const Context context = Context::cpu(2);
  const World world = street_world(1);
  const std::vector<Camera> cameras = camera_path(world, small_path(2));
  const Image<float> a = render(context, world, cameras[0]), b = render(context, world, cameras[1]);
  const Image<float> depth_a = depth(context, world, cameras[0]);
  const Image<float> depth_b = depth(context, world, cameras[1]);
  std::vector<double> right, wrong;
  for (int y = 0; y < 180; ++y) {
    for (int x = 0; x < 240; ++x) {
      if (std::isinf(depth_a(x, y))) continue;
      const Vector3d point = cameras[0].centre() + depth_a(x, y) * cameras[0].ray(x, y);
      const Vector2d in_b = cameras[1].project(point);
      if (!inside(cameras[1], in_b)) continue;
      // Skips points that are occluded in b.
      const double seen = depth_b(std::lround(in_b.x()), std::lround(in_b.y()));
      if (std::abs(seen - cameras[1].depth(point)) > 0.05) continue;
      right.push_back(std::abs(a(x, y) - testing::bilinear(b, in_b)));
      wrong.push_back(
          std::abs(a(x, y) - testing::bilinear(b, Vector2d(x, y).cwiseMax(1).cwiseMin(178))));
    }
  }
  ASSERT_GT(right.size(), 20000u);
  EXPECT_LT(median(right), 0.02);
  EXPECT_GT(median(wrong), 4.0 * median(right));  // the comparison detects wrong correspondences
}

TEST(Render, AgreesWithThePlanesHomography) {
  const Context context = Context::cpu(2);
  const World world = planar_world(5);
  ASSERT_TRUE(world.plane.has_value());
  const std::vector<Camera> cameras = camera_path(world, small_path(2));
  const Image<float> a = render(context, world, cameras[0]), b = render(context, world, cameras[1]);
  const Eigen::Matrix3d H = plane_homography(cameras[0], cameras[1], *world.plane);
  std::vector<double> differences;
  for (int y = 0; y < 180; ++y) {
    for (int x = 0; x < 240; ++x) {
      const Vector2d in_b = transform(H, Vector2d(x, y));
      if (inside(cameras[1], in_b))
        differences.push_back(std::abs(a(x, y) - testing::bilinear(b, in_b)));
    }
  }
  ASSERT_GT(differences.size(), 20000u);
  EXPECT_LT(median(differences), 0.02);
}

TEST(Render, UsesTheWholeRangeOfGray) {
  const World world = street_world(1);
  const Image<float> image =
      render(Context::cpu(2), world, camera_path(world, small_path(1))[0], {.samples = 2});
  std::vector<float> sorted(image.host().data, image.host().data + 240 * 180);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_GE(sorted.front(), 0.0f);
  EXPECT_LE(sorted.back(), 1.0f);
  EXPECT_LT(sorted[sorted.size() / 50], 0.15f);
  EXPECT_GT(sorted[sorted.size() * 49 / 50], 0.80f);
}

TEST(Render, DependsOnTheSeedAndNotOnTheThreads) {
  const PathOptions path{.count = 1, .width = 100, .height = 75};
  const auto picture = [&](std::uint64_t seed, int threads) {
    const World world = street_world(seed);
    return render(Context::cpu(threads), world, camera_path(world, path)[0], {.samples = 2});
  };
  const Image<float> one = picture(3, 1);
  EXPECT_TRUE(testing::same_bytes(one, picture(3, 1)));
  EXPECT_TRUE(testing::same_bytes(one, picture(3, 2)));
  EXPECT_TRUE(testing::same_bytes(one, picture(3, 5)));
  EXPECT_FALSE(testing::same_bytes(one, picture(4, 1)));
}

TEST(Render, ConvergesWithMoreRays) {
  const World world = street_world(2);
  const Camera camera = camera_path(world, {.count = 1, .width = 80, .height = 60})[0];
  const Context context = Context::cpu(2);
  const Image<float> best = render(context, world, camera, {.samples = 12});
  const auto error = [&](int samples) {
    const Image<float> image = render(context, world, camera, {.samples = samples});
    double sum = 0.0;
    for (int i = 0; i < 80 * 60; ++i) {
      sum += std::abs(image.host().data[i] - best.host().data[i]);
    }
    return sum / (80 * 60);
  };
  EXPECT_LT(error(4), 0.5 * error(1));
  EXPECT_LT(error(4), 0.02);
}

TEST(Depth, IsExactOnAPlaneAndInfiniteInTheSky) {
  const World plane = planar_world(1);
  const Camera camera = camera_path(plane, small_path(1))[0];
  const Image<float> z = depth(Context::cpu(2), plane, camera);
  for (int y = 0; y < 180; y += 7) {
    for (int x = 0; x < 240; x += 7) {
      const Vector3d ray = camera.ray(x, y);
      ASSERT_NEAR(z(x, y), -camera.centre().y() / ray.y(), 1e-5);  // the plane y = 0
    }
  }
  const World street = street_world(1);
  const Image<float> z_street =
      depth(Context::cpu(2), street, camera_path(street, small_path(1))[0]);
  EXPECT_TRUE(std::isinf(z_street(120, 0)));
  EXPECT_LT(z_street(120, 179), 6.0f);
}

TEST(CameraPath, StepsByTheAngleOrTheBaseline) {
  const World world = street_world(1);
  PathOptions path{.count = 5, .step_degrees = 10.0, .jitter = 0.0};
  std::vector<Camera> cameras = camera_path(world, path);
  ASSERT_EQ(cameras.size(), 5u);
  const auto flat = [&](const Camera& c) {
    return Vector2d((c.centre() - world.centre).head<2>());
  };
  const double angle = std::acos(flat(cameras[1]).normalized().dot(flat(cameras[2]).normalized()));
  EXPECT_NEAR(angle, 10.0 * M_PI / 180.0, 1e-9);
  path.baseline = 0.5;
  cameras = camera_path(world, path);
  EXPECT_NEAR((cameras[3].centre() - cameras[2].centre()).norm(), 0.5, 1e-9);
  EXPECT_LT(cameras[0].centre().x(), cameras[4].centre().x());
}

TEST(CameraPath, TakesAFieldOfViewOrAFocalLength) {
  const World world = planar_world(1);
  const Camera wide = camera_path(world, {.width = 1000, .field_of_view_degrees = 90.0})[0];
  EXPECT_NEAR(wide.K(0, 0), 500.0, 1e-9);
  EXPECT_NEAR(camera_path(world, {.focal_px = 777.0})[0].K(1, 1), 777.0, 1e-9);
}

TEST(CameraPath, JitterDependsOnTheSeed) {
  const World world = planar_world(1);
  const Camera one = camera_path(world, {.seed = 1})[0], again = camera_path(world, {.seed = 1})[0];
  EXPECT_EQ(one.t, again.t);
  EXPECT_NE(one.t, camera_path(world, {.seed = 2})[0].t);
}

TEST(CameraPath, RejectsInvalidOptions) {
  const World world = planar_world(1);
  EXPECT_THROW(camera_path(world, {.count = 0}), Error);
  EXPECT_THROW(camera_path(world, {.step_degrees = std::nan("")}), Error);
  EXPECT_THROW(camera_path(world, {.baseline = -1.0}), Error);
  EXPECT_THROW(camera_path(world, {.baseline = 100.0}), Error);
  EXPECT_THROW(camera_path(world, {.width = -1}), Error);
  EXPECT_THROW(camera_path(world, {.field_of_view_degrees = 180.0}), Error);
  EXPECT_THROW(camera_path(world, {.jitter = 2.0}), Error);
  EXPECT_THROW(render(Context::cpu(1), world, camera_path(world, {})[0], {.samples = 0}), Error);
  EXPECT_THROW(render(Context::cpu(1), world, Camera{}), Error);
}

}  // namespace
}  // namespace cornea
