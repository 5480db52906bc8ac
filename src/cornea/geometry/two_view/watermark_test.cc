// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/watermark.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/random.h"

namespace cornea {
namespace {

const ImageExtent kImage{640, 480};  // diagonal 800, border 80

struct Mark {
  int stamped = 0;   // matches in the lower right corner of both images, shifted by (3, -2)
  int anywhere = 0;  // matches between independent random positions
  double noise = 0;  // pixels, of the stamped matches
};
std::vector<Correspondence> matches_of(const Mark& mark, std::uint64_t seed = 1) {
  core::Random random(seed);
  std::vector<Correspondence> all;
  auto shaken = [&](double value) {
    return float(value + mark.noise * (2 * random.uniform() - 1));
  };
  for (int i = 0; i < mark.stamped; ++i) {
    const double x = 500 + 120 * random.uniform(), y = 410 + 50 * random.uniform();
    all.push_back({float(x), float(y), shaken(x + 3), shaken(y - 2)});
  }
  for (int i = 0; i < mark.anywhere; ++i) {
    all.push_back({float(640 * random.uniform()), float(480 * random.uniform()),
                   float(640 * random.uniform()), float(480 * random.uniform())});
  }
  return all;
}

TEST(Watermark, AStampInTheCornerIsAWatermark) {
  EXPECT_TRUE(is_watermark(matches_of({.stamped = 30}), kImage, kImage));
  // Within 4 pixels of one translation: noise of 2.5 in each coordinate.
  EXPECT_TRUE(is_watermark(matches_of({.stamped = 200, .noise = 2.5}), kImage, kImage));
}

TEST(Watermark, SevenTenthsAreEnoughAndSixAreNot) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    // A few of the random matches lie near the border by chance.
    EXPECT_TRUE(
        is_watermark(matches_of({.stamped = 75, .anywhere = 25, .noise = 1}, seed), kImage, kImage))
        << seed;
    EXPECT_FALSE(
        is_watermark(matches_of({.stamped = 58, .anywhere = 42, .noise = 1}, seed), kImage, kImage))
        << seed;
  }
}

TEST(Watermark, AStampAwayFromTheBorderIsNotAWatermark) {
  std::vector<Correspondence> matches = matches_of({.stamped = 50});
  for (Correspondence& m : matches) {
    m.x1 -= 250, m.x2 -= 250, m.y1 -= 200, m.y2 -= 200;
  }
  EXPECT_FALSE(is_watermark(matches, kImage, kImage));
  // Near the border in one of the two images only.
  matches = matches_of({.stamped = 50});
  for (Correspondence& m : matches) m.x2 -= 250, m.y2 -= 200;
  EXPECT_FALSE(is_watermark(matches, kImage, kImage));
}

TEST(Watermark, RotatedPointsNearTheBorderAreNotAWatermark) {
  // All around the image, rotated by ten degrees.
  std::vector<Correspondence> matches;
  core::Random random(3);
  const double c = std::cos(0.17), s = std::sin(0.17);
  for (int i = 0; i < 200; ++i) {
    const double along = random.uniform(), in = 30 * random.uniform();
    const double x = i % 2 ? 640 * along : (i % 4 ? in : 640 - in);
    const double y = i % 2 ? (i % 4 == 1 ? in : 480 - in) : 480 * along;
    matches.push_back({float(x), float(y), float(320 + c * (x - 320) - s * (y - 240)),
                       float(240 + s * (x - 320) + c * (y - 240))});
  }
  EXPECT_FALSE(is_watermark(matches, kImage, kImage));
}

TEST(Watermark, TheBorderIsAShareOfTheDiagonalFromTheEdgeOfThePicture) {
  // 80 pixels from the edge, which is half a pixel before the centre of the first pixel.
  const std::vector<Correspondence> in(20, {79.4f, 240, 79.4f, 240});
  const std::vector<Correspondence> out(20, {79.6f, 240, 79.6f, 240});
  const std::vector<Correspondence> far(20, {559.6f, 240, 559.6f, 240});
  EXPECT_TRUE(is_watermark(in, kImage, kImage));
  EXPECT_FALSE(is_watermark(out, kImage, kImage));
  EXPECT_TRUE(is_watermark(far, kImage, kImage));
  EXPECT_FALSE(is_watermark(far, kImage, {1280, 480}));
  EXPECT_TRUE(is_watermark(out, kImage, kImage, {.border = 0.11}));
}

TEST(Watermark, AClusterIsFoundFromTheCornerOfItsBoundingBox) {
  // 71 shifts lie within 4 pixels of one centre; the median of each coordinate is (4, 4).
  std::vector<Correspondence> matches;
  const auto shifted = [&](int count, float x, float y) {
    for (int i = 0; i < count; ++i) matches.push_back({600, 450, 600 + x, 450 + y});
  };
  shifted(21, 4, 0), shifted(21, 0, 4), shifted(29, -2.7f, -2.7f), shifted(29, 35, 25);
  EXPECT_TRUE(is_watermark(matches, kImage, kImage));
}

TEST(Watermark, SizesAndCoordinatesAreChecked) {
  const auto matches = matches_of({.stamped = 30});
  EXPECT_THROW(is_watermark(matches, {}, kImage), Error);
  EXPECT_THROW(is_watermark(matches, kImage, {640, -1}), Error);
  EXPECT_THROW(is_watermark(std::vector<Correspondence>{{NAN, 1, 2, 3}}, kImage, kImage), Error);
}

TEST(Watermark, NoInliersAreNotAWatermark) {
  EXPECT_FALSE(is_watermark({}, kImage, kImage));
  EXPECT_THROW(is_watermark({}, kImage, kImage, {.share = 0.5}), Error);
  EXPECT_THROW(is_watermark({}, kImage, kImage, {.border = -1}), Error);
  EXPECT_THROW(is_watermark({}, kImage, kImage, {.distance = 0}), Error);
}

}  // namespace
}  // namespace cornea
