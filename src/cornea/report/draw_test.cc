// SPDX-License-Identifier: Apache-2.0
#include "cornea/report/draw.h"

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "cornea/core/error.h"

namespace cornea {
namespace {

using Colour = Rgb<std::uint8_t>;

Image<Colour> plain(int width, int height, std::uint8_t gray) {
  Image<Colour> image(width, height);
  std::fill_n(image.host().data, std::size_t(width) * height, Colour{gray, gray, gray});
  return image;
}

int brightness(Colour c) { return (c.r * 299 + c.g * 587 + c.b * 114) / 1000; }

TEST(DrawCorners, ARingStandsOutOnAnyBackground) {
  for (int gray : {0, 128, 180, 255}) {
    const auto image = plain(800, 600, std::uint8_t(gray));
    const Corner corner{400, 300, 1};
    const auto drawn = draw_corners(Context::cpu(), image.host(), {&corner, 1});
    int lightest = 0, darkest = 255, changed = 0;
    for (int y = 280; y < 320; ++y) {
      for (int x = 380; x < 420; ++x) {
        lightest = std::max(lightest, brightness(drawn(x, y)));
        darkest = std::min(darkest, brightness(drawn(x, y)));
        changed += !(drawn(x, y) == image(x, y));
      }
    }
    EXPECT_GT(lightest - darkest, 100) << "on gray " << gray;
    EXPECT_GT(changed, 30);
    // The corner itself stays visible.
    EXPECT_TRUE(drawn(400, 300) == image(400, 300));
    EXPECT_TRUE(drawn(10, 10) == image(10, 10));
  }
}

TEST(DrawCorners, SmallImagesAreEnlargedAndMarksFollow) {
  const auto image = plain(100, 50, 90);
  const Corner corner{20, 30, 1};
  const auto drawn = draw_corners(Context::cpu(), image.host(), {&corner, 1});
  ASSERT_EQ(drawn.width(), 700);
  ASSERT_EQ(drawn.height(), 350);
  // The bounding box of the ring is centred on the middle of the enlarged pixel.
  int left = 700, right = 0;
  for (int y = 0; y < 350; ++y) {
    for (int x = 0; x < 700; ++x) {
      if (drawn(x, y) == Colour{90, 90, 90}) continue;
      left = std::min(left, x);
      right = std::max(right, x);
    }
  }
  EXPECT_EQ(left + right, 2 * (20 * 7 + 3));
}

TEST(DrawCorners, PointsAtAndBeyondTheEdgeAreClipped) {
  const auto image = plain(700, 640, 50);
  const Corner corners[] = {{0, 0, 1}, {699, 639, 1}, {-500, 3, 1}, {1e9f, 1e9f, 1}};
  EXPECT_NO_THROW(draw_corners(Context::cpu(), image.host(), corners));
  EXPECT_THROW(draw_corners(Context::cpu(), {}, corners), Error);
}

TEST(DrawFeatures, TheRingShowsTheScaleAndALineTheAngle) {
  const auto image = plain(700, 640, 90);
  const Keypoint point{300, 200, 20, 0, 1, 0};  // angle 0: to the right
  const auto drawn = draw_features(Context::cpu(), image.host(), {&point, 1});
  const DrawOptions options;
  auto is_bright = [&](int x, int y) { return drawn(x, y) == options.colour; };
  for (int x = 302; x <= 340; ++x) EXPECT_TRUE(is_bright(x, 200)) << x;
  for (int x = 262; x < 297; ++x) EXPECT_FALSE(is_bright(x, 200)) << x;
  EXPECT_TRUE(is_bright(300, 160) && is_bright(300, 240) && is_bright(260, 200));
  const Keypoint down{300, 200, 20, 1.5707963f, 1, 0};
  const auto other = draw_features(Context::cpu(), image.host(), {&down, 1});
  EXPECT_TRUE(other(300, 220) == options.colour);
  EXPECT_TRUE(other(300, 180) == (Colour{90, 90, 90}));
  const Keypoint beyond[] = {{-50, -50, 3, 1, 1, 0}, {1e9f, 3, 2, 0, 1, 0}};
  EXPECT_NO_THROW(draw_features(Context::cpu(), image.host(), beyond));
}

TEST(Draw, MatchesAreLinesBetweenTheTwoPictures) {
  const Context context = Context::cpu(2);
  const Image<Colour> first = plain(400, 300, 9), second = plain(300, 400, 9);
  const std::vector<Keypoint> a = {{100, 50}, {5, 5}}, b = {{7, 7}, {50, 50}, {20, 390}};
  auto lit = [](const Image<Colour>& drawn) {
    int count = 0;
    for (int y = 0; y < drawn.height(); ++y) {
      for (int x = 0; x < drawn.width(); ++x) count += drawn(x, y).r > 100;
    }
    return count;
  };
  const auto none = draw_matches(context, first.host(), second.host(), a, b, {});
  ASSERT_EQ(none.width(), 700);
  ASSERT_EQ(none.height(), 400);
  EXPECT_EQ(lit(none), 0);
  EXPECT_EQ(none(200, 350), (Colour{0, 0, 0}));  // below the first image
  const std::vector<Match> level = {{0, 1, 0, 0}};
  const auto drawn = draw_matches(context, first.host(), second.host(), a, b, level);
  EXPECT_GT(drawn(100, 50).r, 150);
  EXPECT_GT(drawn(450, 50).r, 150);
  EXPECT_EQ(drawn(90, 50).r, 9);    // outside of the ring
  EXPECT_GT(drawn(450, 55).r, 60);  // the ring
  EXPECT_EQ(drawn(300, 54).r, 9);
  EXPECT_GT(lit(drawn), 351);
  EXPECT_LT(lit(drawn), 500);
  const std::vector<Match> many(100, level[0]);
  EXPECT_EQ(lit(draw_matches(context, first.host(), second.host(), a, b, many, {.most_lines = 1})),
            lit(drawn));
  const std::vector<Match> wrong = {{0, 3, 0, 0}};
  EXPECT_THROW(draw_matches(context, first.host(), second.host(), a, b, wrong), Error);
}

}  // namespace
}  // namespace cornea
