// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using testing::TemporaryFolder;

constexpr PixelRange kAuto{PixelRange::Kind::automatic};

Image<std::uint16_t> words(std::uint16_t brightest) {
  Image<std::uint16_t> image(7, 5);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) image(x, y) = std::uint16_t(brightest - 10 * x - y);
  }
  return image;
}

TEST(PixelRange, TwelveBitsInSixteenAreSpread) {
  const TemporaryFolder folder;
  write_image(folder / "12.png", words(4095));
  write_image(folder / "13.png", words(4096));
  const GrayImage twelve = read_gray(folder / "12.png", {.range = kAuto});
  ASSERT_TRUE(twelve.range.has_value());
  EXPECT_EQ(*twelve.range, (std::array<double, 2>{0, 4095}));
  EXPECT_EQ(twelve.view().host<std::uint16_t>()(0, 0), 65520);
  EXPECT_EQ(twelve.view().host<std::uint16_t>()(6, 4), 16 * (4095 - 64));
  // One value is larger than 12 bits, or the range is not automatic.
  const GrayImage more = read_gray(folder / "13.png", {.range = kAuto});
  EXPECT_FALSE(more.range.has_value());
  EXPECT_EQ(more.view().host<std::uint16_t>()(0, 0), 4096);
  const GrayImage stored = read_gray(folder / "12.png");
  EXPECT_FALSE(stored.range.has_value());
  EXPECT_EQ(stored.view().host<std::uint16_t>()(0, 0), 4095);
  // The same for colour and other types.
  EXPECT_EQ((read_image<Rgb<std::uint8_t>>(folder / "12.png", {.range = kAuto})(0, 0).g), 255);
}

TEST(PixelRange, ColourIsSpreadByItsBrightestChannel) {
  const TemporaryFolder folder;
  Image<Rgb<std::uint16_t>> colour(3, 1);
  colour(0, 0) = {4000, 1, 2}, colour(1, 0) = {}, colour(2, 0) = {5, 6, 4095};
  write_image(folder / "c.png", colour);
  const auto read = read_image<Rgb<std::uint16_t>>(folder / "c.png", {.range = kAuto});
  EXPECT_EQ(read(0, 0), (Rgb<std::uint16_t>{64000, 16, 32}));
  colour(1, 0).g = 5000;
  write_image(folder / "c.png", colour);
  EXPECT_EQ((read_image<Rgb<std::uint16_t>>(folder / "c.png", {.range = kAuto})(0, 0).r), 4000);
}

TEST(PixelRange, BlackImagesAndOtherDepthsStayUnchanged) {
  const TemporaryFolder folder;
  write_image(folder / "8.png", Image<std::uint8_t>(4, 4));
  write_image(folder / "black.png", Image<std::uint16_t>(4, 4));
  write_image(folder / "f.pfm", Image<float>(4, 4));
  for (const char* name : {"8.png", "black.png", "f.pfm"}) {
    EXPECT_FALSE(read_gray(folder / name, {.range = kAuto}).range.has_value()) << name;
  }
}

TEST(PixelRange, AGivenRangeIsSpreadAndTheRestClamped) {
  const TemporaryFolder folder;
  Image<float> floats(5, 1);
  floats(0, 0) = -3, floats(1, 0) = 50, floats(2, 0) = 125, floats(3, 0) = 1e9f;
  floats(4, 0) = std::numeric_limits<float>::quiet_NaN();
  write_image(folder / "f.pfm", floats);
  const PixelRange range{PixelRange::Kind::given, 50, 200};
  const GrayImage read = read_gray(folder / "f.pfm", {.range = range});
  EXPECT_EQ(*read.range, (std::array<double, 2>{50, 200}));
  const auto f = read.view().host<float>();
  EXPECT_EQ(f(0, 0), 0);
  EXPECT_EQ(f(1, 0), 0);
  EXPECT_EQ(f(2, 0), 0.5f);
  EXPECT_EQ(f(3, 0), 1);
  EXPECT_TRUE(f(4, 0) != f(4, 0));  // NaN stays NaN; detectors reject it

  Image<std::uint16_t> deep(3, 1);
  deep(0, 0) = 49, deep(1, 0) = 80, deep(2, 0) = 1023;
  write_image(folder / "d.png", deep);
  const GrayImage spread = read_gray(folder / "d.png", {.range = range});
  const auto d = spread.view().host<std::uint16_t>();
  EXPECT_EQ(d(0, 0), 0);
  EXPECT_EQ(d(1, 0), 13107);  // a fifth
  EXPECT_EQ(d(2, 0), 65535);
  const GrayImage bytes_read =
      read_gray(folder / "d.png", {.range = {PixelRange::Kind::given, 0, 80}});
  EXPECT_EQ(bytes_read.view().host<std::uint16_t>()(1, 0), 65535);
}

TEST(PixelRange, RejectsAnInvalidRange) {
  const TemporaryFolder folder;
  write_image(folder / "8.png", Image<std::uint8_t>(4, 4));
  for (const auto& [low, high] :
       {std::pair(3.0, 3.0), std::pair(5.0, 1.0),
        std::pair(0.0, std::numeric_limits<double>::infinity()), std::pair(std::nan(""), 1.0)}) {
    EXPECT_THROW(read_gray(folder / "8.png", {.range = {PixelRange::Kind::given, low, high}}),
                 Error);
  }
}

}  // namespace
}  // namespace cornea
