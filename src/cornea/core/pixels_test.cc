// SPDX-License-Identifier: Apache-2.0
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

TEST(Pixels, TheWorstValueIsFound) {
  const Context context = Context::cpu(2);
  const FloatLimits unit = float_limits(Working::gray), any = float_limits(Working::levels);
  for (float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -INFINITY, 2e6f}) {
    auto image = testing::random_image<float>(70, 200, 1);
    EXPECT_EQ(worst_value(context, image.host(), unit), 0);
    image(12, 3) = -1.5e6f;
    image(69, 199) = bad;
    EXPECT_EQ(worst_value(context, image.host(), any), badness(bad));
    EXPECT_EQ(worst_value(context, image.host(), unit), badness(bad));
  }
  auto image = testing::random_image<float>(70, 200, 1);
  image(3, 3) = 2, image(4, 4) = -1;
  EXPECT_EQ(worst_value(context, image.host(), unit), 0);
  image(3, 150) = 2.25f, image(3, 151) = -1.75f;
  EXPECT_EQ(worst_value(context, image.host(), unit), badness(2.25f));
  EXPECT_EQ(worst_value(context, image.host(), any), 0);
}

}  // namespace
}  // namespace cornea
