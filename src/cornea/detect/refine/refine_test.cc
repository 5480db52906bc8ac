// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/refine/refine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/detect/harris/harris.h"
#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using namespace core;

// A blurred saddle like a checkerboard's crossing, rotated, with its centre at (cx, cy).
Image<float> crossing(double cx, double cy, double angle) {
  Image<float> image(41, 37);
  for (int y = 0; y < 37; ++y) {
    for (int x = 0; x < 41; ++x) {
      const double u = std::cos(angle) * (x - cx) + std::sin(angle) * (y - cy);
      const double v = std::cos(angle + 1.3) * (x - cx) + std::sin(angle + 1.3) * (y - cy);
      image(x, y) = static_cast<float>(0.5 + 0.35 * std::tanh(u / 1.2) * std::tanh(v / 1.2));
    }
  }
  return image;
}

TEST(RefineCorners, FindsTheCentreOfACrossing) {
  Random random(4);
  for (int round = 0; round < 50; ++round) {
    const double cx = random.uniform(15, 25), cy = random.uniform(14, 22);
    const Image<float> image = crossing(cx, cy, random.uniform(0, 6));
    Corner corner{float(std::lround(cx + random.uniform(-1.5, 1.5))),
                  float(std::lround(cy + random.uniform(-1.5, 1.5))), 1};
    refine_corners(Context::cpu(), image, 4, {&corner, 1});
    EXPECT_NEAR(corner.x, cx, 0.05);
    EXPECT_NEAR(corner.y, cy, 0.05);
  }
}

TEST(RefineCorners, LeavesPointsWithoutACornerWhereTheyAre) {
  Image<std::uint8_t> edge(40, 40);
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 40; ++x) edge(x, y) = x < 20 ? 20 : 200;
  }
  std::vector<Corner> corners = {{20, 20, 1}, {5, 5, 1}, {0, 0, 1}, {39, 39, 1}};
  const std::vector<Corner> before = corners;
  refine_corners(Context::cpu(), edge, 4, corners);
  EXPECT_TRUE(corners == before);
  EXPECT_THROW(refine_corners(Context::cpu(), edge, 0, corners), Error);
  EXPECT_THROW(refine_corners(Context::cpu(), edge, 16, corners), Error);
}

// A rendered checkerboard of 9 x 8 squares, antialiased by supersampling.
Image<float> checkerboard(double side, double angle) {
  constexpr int kWidth = 240, kHeight = 220, kRays = 4;
  Image<float> image(kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      int white = 0;
      for (int k = 0; k < kRays * kRays; ++k) {
        const double dx = x + (k % kRays) / double(kRays) - 40, dy = y + k / kRays / 4.0 - 30;
        const double u = (std::cos(angle) * dx + std::sin(angle) * dy) / side;
        const double v = (std::cos(angle) * dy - std::sin(angle) * dx) / side;
        const bool on_board = u > 0 && v > 0 && u < 9 && v < 8;
        white += !on_board || (int(u) + int(v)) % 2 == 0;
      }
      image(x, y) = 0.1f + 0.8f * float(white) / (kRays * kRays);
    }
  }
  return image;
}

class RefineOnDevice : public testing::OnEveryDevice {};

TEST(RefineCorners, CornersOutsideTheImageAreRefused) {
  const Image<std::uint8_t> image(20, 10), empty;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Corner& corner : {Corner{19.5f, 3}, Corner{3, -1}, Corner{nan, 3}, Corner{3, 1e10f}}) {
    std::vector<Corner> corners = {{3, 3}, corner};
    testing::expect_error(ErrorCode::invalid_argument, "is not in the image of 20 x 10 pixels",
                          [&] { refine_corners(Context::cpu(1), image, 3, corners); });
  }
  std::vector<Corner> one = {{0, 0}}, none;
  EXPECT_THROW(refine_corners(Context::cpu(1), empty, 3, one), Error);
  refine_corners(Context::cpu(1), image, 3, none);
}

TEST_P(RefineOnDevice, HarrisWithGradientsFindsTheCrossingOnEveryDevice) {
  HarrisOptions options;
  options.peaks.subpixel = Subpixel::gradient;
  options.peaks.threshold = 0.3;
  Random random(9);
  for (int round = 0; round < 20; ++round) {
    const double cx = random.uniform(15, 25), cy = random.uniform(14, 22);
    const Image<float> image = crossing(cx, cy, random.uniform(0, 6));
    options.peaks.subpixel_radius = random.integer(3, 9);
    const auto corners = Harris(context, options).detect(image);
    ASSERT_FALSE(corners.empty());
    for (const Corner& corner : corners) {
      EXPECT_NEAR(corner.x, cx, 0.1);
      EXPECT_NEAR(corner.y, cy, 0.1);
    }
    EXPECT_TRUE(corners == Harris(Context::cpu(1), options).detect(image));
  }
}

TEST_P(RefineOnDevice, NoCornerOfACheckerboardIsReturnedTwice) {
  HarrisOptions options;
  options.peaks.subpixel = Subpixel::gradient;
  const Image<float> image = checkerboard(19.3, 0.11);
  Harris harris(context, options);
  const auto corners = harris.detect(image);
  EXPECT_GE(corners.size(), 56u);  // the inner crossings
  for (std::size_t i = 0; i < corners.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GE(std::hypot(corners[i].x - corners[j].x, corners[i].y - corners[j].y), 1);
    }
  }
  EXPECT_GE(harris.report().between_pixels, 56u);
  EXPECT_LE(harris.report().between_pixels, corners.size());
  EXPECT_TRUE(corners == Harris(Context::cpu(1), options).detect(image));
}

TEST_P(RefineOnDevice, InClutterPointsStayNearTheirPixels) {
  Image<float> noise(160, 120);
  Random random(3);
  for (int y = 0; y < 120; ++y) {
    for (int x = 0; x < 160; ++x) noise(x, y) = float(random.uniform(0, 1));
  }
  HarrisOptions options;
  options.peaks.relative = false;
  options.peaks.threshold = 0;
  const auto pixels = Harris(context, options).detect(noise);
  options.peaks.subpixel = Subpixel::gradient;
  Harris harris(context, options);
  const auto corners = harris.detect(noise);
  ASSERT_GT(corners.size(), 100u);
  // Far fewer than half are refined; none has moved more than 3 pixels.
  EXPECT_LT(harris.report().between_pixels, corners.size() / 2);
  for (const Corner& c : corners) {
    EXPECT_TRUE(std::any_of(pixels.begin(), pixels.end(), [&](const Corner& p) {
      return p.response == c.response && std::hypot(p.x - c.x, p.y - c.y) <= 3;
    }));
  }
  EXPECT_TRUE(corners == Harris(Context::cpu(1), options).detect(noise));
}

INSTANTIATE_TEST_SUITE_P(, RefineOnDevice, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
