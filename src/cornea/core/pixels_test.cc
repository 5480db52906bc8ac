#include "cornea/core/pixels.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"

namespace cornea {
namespace {

using namespace core;

TEST(Pixels, GrayIsTheRoundedWeightedSum) {
  for (int r = 0; r < 256; r += 15) {
    for (int g = 0; g < 256; g += 5) {
      for (int b = 0; b < 256; b += 17) {
        const double exact = 0.299 * r + 0.587 * g + 0.114 * b;
        const int gray =
            gray_value(Rgb<std::uint8_t>{std::uint8_t(r), std::uint8_t(g), std::uint8_t(b)});
        EXPECT_LE(std::abs(gray - exact), 0.5 + 1e-9);
      }
    }
  }
  EXPECT_EQ(gray_value(Rgb<std::uint16_t>{65535, 65535, 65535}), 65535);
}

TEST(Pixels, DepthsScaleWithRounding) {
  EXPECT_EQ(u16_from_unit(-1), 0);
  EXPECT_EQ(u16_from_unit(2), 65535);
  EXPECT_EQ(u16_from_unit(0.5f), 32768);
  for (int v = 0; v < 256; ++v) {
    EXPECT_EQ(u8_from_u16(std::uint16_t(v * 257)), v);
    EXPECT_EQ(u16_from_unit(v / 255.0f), v * 257);
  }
  EXPECT_EQ(u8_from_u16(128), 0);
  EXPECT_EQ(u8_from_u16(129), 1);
}

TEST(Pixels, NaNInfinityAndHugeValuesAreFound) {
  const Context context = Context::cpu(2);
  for (float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -INFINITY, 2e6f}) {
    auto image = testing::random_image<float>(70, 200, 1);
    EXPECT_TRUE(all_usable(context, image.host()));
    image(69, 199) = bad;
    EXPECT_FALSE(all_usable(context, image.host()));
  }
}

}  // namespace
}  // namespace cornea
