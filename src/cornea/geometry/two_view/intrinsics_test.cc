// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/intrinsics.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/random.h"

namespace cornea {
namespace {

// COLMAP's five models, the last with more distortion than the lenses of photographs have.
std::vector<Intrinsics> cameras() {
  return {{.fx = 900, .fy = 900, .cx = 640, .cy = 480},                           // SIMPLE_PINHOLE
          {.fx = 900, .fy = 950, .cx = 600, .cy = 500},                           // PINHOLE
          {.fx = 900, .fy = 900, .cx = 640, .cy = 480, .k1 = -0.15},              // SIMPLE_RADIAL
          {.fx = 900, .fy = 900, .cx = 640, .cy = 480, .k1 = -0.25, .k2 = 0.08},  // RADIAL
          {.fx = 900, .fy = 950, .cx = 600, .cy = 500, .k1 = 0.3, .k2 = 0.2},     // OPENCV
          {900, 950, 600, 500, -0.35, 0.15, 0.002, -0.003}};
}

TEST(Intrinsics, GivesPixelsOfColmapsModels) {
  // OPENCV of COLMAP at (x, y) = (0.3, -0.2): r^2 = 0.13, radial = k1 r^2 + k2 r^4.
  const Intrinsics camera{900, 950, 600, 500, -0.35, 0.15, 0.002, -0.003};
  const double radial = -0.35 * 0.13 + 0.15 * 0.0169;
  const double du = 0.3 * radial + 2 * 0.002 * (0.3 * -0.2) + -0.003 * (0.13 + 2 * 0.09);
  const double dv = -0.2 * radial + 2 * -0.003 * (0.3 * -0.2) + 0.002 * (0.13 + 2 * 0.04);
  const auto [u, v] = camera.pixel(0.3, -0.2);
  EXPECT_NEAR(u, 900 * (0.3 + du) + 600, 1e-10);
  EXPECT_NEAR(v, 950 * (-0.2 + dv) + 500, 1e-10);
}

TEST(Intrinsics, UndistortsEveryPixelOfAnImage) {
  for (const Intrinsics& camera : cameras()) {
    for (int u = -1; u <= 1281; u += 40) {
      for (int v = -1; v <= 961; v += 40) {
        const auto place = camera.place(u, v);
        ASSERT_TRUE(place) << u << " " << v << " k1 " << camera.k1;
        const auto back = camera.pixel((*place)[0], (*place)[1]);
        EXPECT_NEAR(back[0], u, 1e-9);
        EXPECT_NEAR(back[1], v, 1e-9);
      }
    }
  }
}

TEST(Intrinsics, RecoversTheUndistortedPosition) {
  core::Random random(1);
  for (const Intrinsics& camera : cameras()) {
    for (int i = 0; i < 500; ++i) {
      const double x = random.uniform(-0.75, 0.75), y = random.uniform(-0.55, 0.55);
      const auto pixel = camera.pixel(x, y);
      const auto place = camera.place(pixel[0], pixel[1]);
      ASSERT_TRUE(place);
      EXPECT_NEAR((*place)[0], x, 1e-10);
      EXPECT_NEAR((*place)[1], y, 1e-10);
    }
  }
}

TEST(Intrinsics, GivesNothingForPixelsThatNoRayReaches) {
  // x (1 - 0.3 x^2) has its largest value, 0.703, at x = 1.054.
  const Intrinsics barrel{.fx = 1000, .fy = 1000, .k1 = -0.3};
  const double edge = 1000 * 2.0 / 3 / std::sqrt(0.9);
  EXPECT_TRUE(barrel.place(edge - 0.01, 0));
  EXPECT_FALSE(barrel.place(edge + 0.01, 0));
  EXPECT_FALSE(barrel.place(0, -edge - 0.01));
  EXPECT_FALSE(barrel.place(5000, 3000));
  EXPECT_FALSE(barrel.place(-1e9, 1e9));
  EXPECT_FALSE(barrel.place(std::numeric_limits<double>::quiet_NaN(), 0));
  EXPECT_FALSE(barrel.place(std::numeric_limits<double>::infinity(), 0));
}

TEST(Intrinsics, DoesNotUndistortBeyondAFold) {
  // x (1 - x^2 + 0.3 x^4) rises to 0.4, falls, and rises again: a pixel at 1000 has a position only
  // beyond the fold.
  const Intrinsics folded{.fx = 1000, .fy = 1000, .k1 = -1, .k2 = 0.3};
  EXPECT_FALSE(folded.place(1000, 0));
  EXPECT_FALSE(folded.place(700, 700));
  const auto inside = folded.place(300, 100);
  ASSERT_TRUE(inside);
  EXPECT_LT(std::hypot((*inside)[0], (*inside)[1]), 0.5);
}

TEST(Intrinsics, NamesTheInvalidNumber) {
  auto sentence = [](const Intrinsics& camera) -> std::string {
    try {
      camera.validate();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "";
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sentence({.fx = 1, .fy = 1}), "");
  EXPECT_EQ(sentence({.fx = 0, .fy = 1}), "fx is 0; a focal length is a positive number of pixels");
  EXPECT_EQ(sentence({.fx = 1, .fy = -2}),
            "fy is -2; a focal length is a positive number of pixels");
  EXPECT_EQ(sentence({.fx = 1, .fy = 1, .cx = nan}), "cx is nan; give a finite number");
  EXPECT_NE(sentence({.fx = 1, .fy = 1, .p2 = 1 / 0.0}).find("p2"), std::string::npos);
}

}  // namespace
}  // namespace cornea
