// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/checkerboard.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/scene/camera.h"
#include "cornea/scene/scene_testing.h"

namespace cornea {
namespace {

using namespace core;
using namespace gaussian;

using Eigen::Vector2d;

Image<float> smoothed(const Image<float>& image) {
  Image<float> smooth(image.width(), image.height());
  gaussian_blur(Context::cpu(1), image.host(), smooth.host(), 1.0);
  return smooth;
}

CheckerboardOptions tilted_board() {
  CheckerboardOptions options{.width = 320, .height = 240, .columns = 8, .rows = 6, .cell = 24.0};
  options.homography = tilted_view(320, 240, 17.0, 25.0, -15.0, 400.0);
  return options;
}

TEST(Checkerboard, ListsEveryInnerCorner) {
  for (int columns : {1, 2, 5, 30}) {
    for (int rows : {1, 3, 12}) {
      const Checkerboard board =
          checkerboard(Context::cpu(1),
                       {.width = 40, .height = 30, .columns = columns, .rows = rows, .cell = 4});
      EXPECT_EQ(board.corners.size(), std::size_t(columns - 1) * (rows - 1));
    }
  }
}

TEST(Checkerboard, IsExactWhenItsCellsCoverWholePixels) {
  // 4 x 4 cells of 8 pixels fill 32 x 32 pixels: every pixel lies in one cell.
  const Checkerboard board = checkerboard(
      Context::cpu(1), {.width = 32, .height = 32, .columns = 4, .rows = 4, .cell = 8.0});
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) {
      ASSERT_EQ(board.image(x, y), (x / 8 + y / 8) % 2 == 0 ? 0.1f : 0.9f) << x << ", " << y;
    }
  }
  EXPECT_EQ(board.corners[0], Vector2d(7.5, 7.5));  // between the pixels 7 and 8
}

TEST(Checkerboard, IsMiddleGrayAtItsCorners) {
  // Without a tilt the four cells at a corner have equal angles.
  CheckerboardOptions options = tilted_board();
  options.homography = tilted_view(320, 240, 17.0, 0.0, 0.0, 400.0);
  const Checkerboard board = checkerboard(Context::cpu(2), options);
  const Image<float> smooth = smoothed(board.image);
  ASSERT_EQ(board.corners.size(), 35u);
  for (const Vector2d& corner : board.corners) {
    EXPECT_NEAR(testing::bilinear(smooth, corner), 0.5, 0.01) << corner.transpose();
  }
}

TEST(Checkerboard, IsPointSymmetricAboutItsCornersOnly) {
  const Checkerboard board = checkerboard(Context::cpu(2), tilted_board());
  const Image<float> smooth = smoothed(board.image);
  const auto asymmetry = [&](const Vector2d& centre) {
    double largest = 0.0;
    for (const Vector2d& step : {Vector2d(3, 0), Vector2d(0, 3), Vector2d(2, 2), Vector2d(2, -2)}) {
      const double difference =
          testing::bilinear(smooth, centre + step) - testing::bilinear(smooth, centre - step);
      largest = std::max(largest, std::abs(difference));
    }
    return largest;
  };
  for (const Vector2d& corner : board.corners) {
    EXPECT_LT(asymmetry(corner), 0.04) << corner.transpose();
    EXPECT_GT(asymmetry(corner + Vector2d(0.5, 0.0)), 0.10);
    EXPECT_GT(asymmetry(corner + Vector2d(0.0, 0.5)), 0.10);
  }
}

TEST(Checkerboard, PixelsOnAnEdgeHoldTheCoveredShare) {
  // The edges lie at 7.25 + 8 k: a pixel on an edge is three quarters dark, one quarter light.
  CheckerboardOptions options{.width = 32, .height = 32, .columns = 4, .rows = 4, .cell = 8.0};
  options.homography(0, 2) = -0.25;
  const Checkerboard board = checkerboard(Context::cpu(1), options);
  EXPECT_NEAR(board.image(7, 3), 0.75 * 0.1 + 0.25 * 0.9, 1e-6);
  EXPECT_NEAR(board.corners[0].x(), 7.25, 1e-12);
}

TEST(Checkerboard, GivesTheSameBytesOnAnyNumberOfThreads) {
  const Checkerboard one = checkerboard(Context::cpu(1), tilted_board());
  const Checkerboard two = checkerboard(Context::cpu(2), tilted_board());
  EXPECT_EQ(std::memcmp(one.image.host().data, two.image.host().data, 320 * 240 * sizeof(float)),
            0);
}

TEST(Checkerboard, RejectsInvalidOptions) {
  const auto refuses = [](const CheckerboardOptions& options) {
    try {
      checkerboard(Context::cpu(1), options);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refuses({.width = 0}));
  EXPECT_TRUE(refuses({.height = -3}));
  EXPECT_TRUE(refuses({.columns = 0}));
  EXPECT_TRUE(refuses({.cell = 0.0}));
  EXPECT_TRUE(refuses({.cell = std::nan("")}));
  EXPECT_TRUE(refuses({.homography = Eigen::Matrix3d::Zero()}));
  EXPECT_TRUE(refuses({.light = 1.5}));
  EXPECT_TRUE(refuses({.samples = 0}));
}

TEST(TiltedView, KeepsTheCentreAndShrinksTheFarSide) {
  const Eigen::Matrix3d H = tilted_view(201, 101, 0.0, 30.0, 0.0, 300.0);
  EXPECT_NEAR((transform(H, Vector2d(100, 50)) - Vector2d(100, 50)).norm(), 0.0, 1e-9);
  const double left = (transform(H, Vector2d(0, 0)) - transform(H, Vector2d(0, 100))).norm();
  const double right = (transform(H, Vector2d(200, 0)) - transform(H, Vector2d(200, 100))).norm();
  EXPECT_GT(std::abs(left - right), 10.0);
}

}  // namespace
}  // namespace cornea
