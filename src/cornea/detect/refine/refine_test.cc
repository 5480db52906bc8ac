#include "cornea/detect/refine/refine.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/detect/harris/harris.h"

namespace cornea {
namespace {

using namespace core;

// A blurred saddle, as a checkerboard's crossing looks, rotated, with its centre at (cx, cy).
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

class RefineOnDevice : public testing::OnEveryDevice {};

TEST_P(RefineOnDevice, HarrisWithGradientsMeetsTheCrossingOnEveryDeviceAlike) {
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

INSTANTIATE_TEST_SUITE_P(, RefineOnDevice, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
