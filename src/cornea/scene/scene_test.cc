// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/scene.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/scene/scene_testing.h"

namespace cornea {
namespace {

SceneOptions small_scene(SceneKind kind) {
  return {.kind = kind, .views = 3, .width = 120, .height = 90, .samples = 2};
}

TEST(Scene, MakesNamedViewsWithTheirCameras) {
  for (SceneKind kind : {SceneKind::checkerboard, SceneKind::plane, SceneKind::boxes}) {
    const std::vector<View> views = make_views(Context::cpu(2), small_scene(kind));
    const std::vector<Camera> cameras = scene_cameras(small_scene(kind));
    ASSERT_EQ(views.size(), 3u);
    EXPECT_EQ(views[0].name, "view_000");
    EXPECT_EQ(views[2].name, "view_002");
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(views[i].image.width(), 120);
      EXPECT_EQ(views[i].image.height(), 90);
      EXPECT_EQ(views[i].camera.width, 120);
      EXPECT_EQ(views[i].camera.K, cameras[i].K);
      EXPECT_EQ(views[i].camera.R, cameras[i].R);
      EXPECT_EQ(views[i].camera.t, cameras[i].t);
    }
    EXPECT_FALSE(testing::same_bytes(views[0].image, views[1].image));
    EXPECT_EQ(scene_plane(small_scene(kind)).has_value(), kind != SceneKind::boxes);
  }
}

TEST(Scene, NamesOfManyViewsSortAsTheViews) {
  const std::vector<View> views =
      make_views(Context::cpu(2), {.views = 1001, .width = 2, .height = 2, .samples = 1});
  EXPECT_EQ(views[7].name, "view_0007");
  EXPECT_TRUE(std::is_sorted(views.begin(), views.end(),
                             [](const View& a, const View& b) { return a.name < b.name; }));
}

// Compilers evaluate arguments in different orders, and random numbers must not depend on it.
TEST(Scene, CamerasOfASeedAreTheRecordedOnes) {
  const Camera camera = scene_cameras({.kind = SceneKind::boxes, .views = 2}).at(1);
  const Eigen::Vector3d centre = camera.centre();
  EXPECT_NEAR(centre.x(), 0.3176398889762645, 1e-9);
  EXPECT_NEAR(centre.y(), -6.193954063806127, 1e-9);
  EXPECT_NEAR(centre.z(), 2.585917836358707, 1e-9);
}

TEST(Scene, CheckerboardCornersFollowTheGeometryOfTheirViews) {
  SceneOptions options = small_scene(SceneKind::checkerboard);
  options.degradation = {.rotate_degrees = 30.0, .scale = 1.3};
  const std::vector<View> views = make_views(Context::cpu(2), options);
  const Eigen::Matrix3d H =
      plane_homography(views[0].camera, views[1].camera, *scene_plane(options));
  const Eigen::Matrix3d F = fundamental(views[0].camera, views[1].camera);
  ASSERT_EQ(views[0].corners.size(), 9u * 6u);
  EXPECT_EQ(views[0].image.width(), 120);  // the first view keeps its size
  EXPECT_EQ(views[1].image.width(), 156);
  for (std::size_t i = 0; i < views[0].corners.size(); ++i) {
    const Eigen::Vector2d a = views[0].corners[i], b = views[1].corners[i];
    EXPECT_NEAR((transform(H, a) - b).norm(), 0.0, 1e-8);
    EXPECT_NEAR(b.homogeneous().dot(F * a.homogeneous()), 0.0, 1e-9);
    EXPECT_GT(a.x(), 0.0);
    EXPECT_LT(a.x(), 119.0);
    EXPECT_GT(a.y(), 0.0);
    EXPECT_LT(a.y(), 89.0);
  }
}

TEST(Scene, GivesTheSameBytesInEveryRunAndOnAnyNumberOfThreads) {
  SceneOptions options = small_scene(SceneKind::boxes);
  options.views = 2;
  options.degradation = {.blur = 0.7, .noise = 4.0, .jpeg_quality = 80};
  const std::vector<View> one = make_views(Context::cpu(1), options);
  const std::vector<View> two = make_views(Context::cpu(2), options);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(testing::same_bytes(one[i].image, two[i].image));
  options.seed = 2;
  EXPECT_FALSE(testing::same_bytes(one[0].image, make_views(Context::cpu(2), options)[0].image));
}

TEST(Scene, EveryViewHasDifferentNoise) {
  SceneOptions options = small_scene(SceneKind::plane);
  options.step_degrees = 0.0;
  options.jitter = 0.0;  // all views are equal except for the noise
  EXPECT_TRUE(testing::same_bytes(make_views(Context::cpu(2), options)[0].image,
                                  make_views(Context::cpu(2), options)[1].image));
  options.degradation.noise = 3.0;
  const std::vector<View> noisy = make_views(Context::cpu(2), options);
  EXPECT_FALSE(testing::same_bytes(noisy[0].image, noisy[1].image));
}

TEST(Scene, KnowsItsKindsByName) {
  for (SceneKind kind : {SceneKind::checkerboard, SceneKind::plane, SceneKind::boxes}) {
    EXPECT_EQ(scene_kind(name(kind)), kind);
  }
  EXPECT_THROW(scene_kind("moon"), Error);
}

TEST(Scene, RejectsInvalidOptions) {
  const auto refuses = [](const SceneOptions& options) {
    try {
      make_views(Context::cpu(1), options);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refuses({.views = 0}));
  EXPECT_TRUE(refuses({.width = -5}));
  EXPECT_TRUE(refuses({.height = 0}));
  EXPECT_TRUE(refuses({.step_degrees = std::nan("")}));
  EXPECT_TRUE(refuses({.field_of_view_degrees = 0.0}));
  EXPECT_TRUE(refuses({.samples = 0}));
  EXPECT_TRUE(refuses({.board_columns = 0}));
  EXPECT_TRUE(refuses({.degradation = {.scale = 0.0}}));
  EXPECT_TRUE(refuses({.degradation = {.noise = std::nan("")}}));
}

}  // namespace
}  // namespace cornea
