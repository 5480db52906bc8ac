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
    // The corner itself stays to be seen.
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
  // The ring's box is centred on the middle of the enlarged pixel.
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

}  // namespace
}  // namespace cornea
