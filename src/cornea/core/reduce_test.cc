// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/reduce.h"

#include <cmath>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"

namespace cornea::core {
namespace {

using testing::random_image;

// The mean of an area, pixel by pixel.
double mean_at(const Image<std::uint8_t>& image, int x, int y, double sx, double sy) {
  double sum = 0;
  for (int v = 0; v < image.height(); ++v) {
    const double rows = std::min((y + 1) * sy, v + 1.0) - std::max(y * sy, double(v));
    if (rows <= 0) continue;
    for (int u = 0; u < image.width(); ++u) {
      const double columns = std::min((x + 1) * sx, u + 1.0) - std::max(x * sx, double(u));
      if (columns > 0) sum += rows * columns * image(u, v);
    }
  }
  return sum / (sx * sy);
}

TEST(Reduced, RefusesImagesWithoutPixels) {
  const Image<std::uint8_t> image = random_image<std::uint8_t>(67, 41, 1);
  const HostView<const std::uint8_t> flat(image.host().data, 5000, 0), none(nullptr, 67, 41);
  EXPECT_THROW(Reduced(flat, {}, 1000), Error);
  EXPECT_THROW(Reduced(none, {}, 40), Error);
  EXPECT_THROW(Reduced(image, none, 40), Error);
}

TEST(Reduced, TakesImagesThatAreTooLargeForDetectors) {
  const std::vector<std::uint8_t> pixels(2 * 1200000, 7);
  const HostView<const std::uint8_t> wide(pixels.data(), 1200000, 2);
  const Reduced reduced(wide, {}, 1000);
  ASSERT_EQ(reduced.image().width(), 1000);
  EXPECT_EQ(reduced.image().host<std::uint8_t>()(999, 0), 7);
}

TEST(Reduced, PixelsAreMeansOfTheAreaTheyCover) {
  const auto image = random_image<std::uint8_t>(67, 41, 1);
  for (int max_size : {66, 40, 32, 17}) {
    const Reduced reduced(image, {}, max_size);
    ASSERT_TRUE(reduced.is_smaller());
    const auto small = reduced.image().host<std::uint8_t>();
    EXPECT_EQ(small.width, max_size);
    EXPECT_EQ(small.height, int(std::lround(41.0 * max_size / 67)));
    for (int y = 0; y < small.height; ++y) {
      for (int x = 0; x < small.width; ++x) {
        const double mean = mean_at(image, x, y, 67.0 / small.width, 41.0 / small.height);
        ASSERT_NEAR(small(x, y), mean, 0.5 + 1e-9) << x << ", " << y;
      }
    }
  }
}

TEST(Reduced, EveryTypeIsReducedAlike) {
  const auto bytes = random_image<std::uint8_t>(50, 90, 2);
  Image<std::uint16_t> words(50, 90);
  Image<float> floats(50, 90);
  Image<Rgb<std::uint8_t>> colour(50, 90);
  for (int y = 0; y < 90; ++y) {
    for (int x = 0; x < 50; ++x) {
      words(x, y) = std::uint16_t(bytes(x, y) * 257);
      floats(x, y) = bytes(x, y) / 255.0f;
      colour(x, y) = {bytes(x, y), 7, std::uint8_t(255 - bytes(x, y))};
    }
  }
  const Reduced b(bytes, {}, 37), w(words, {}, 37), f(floats, {}, 37), c(colour, {}, 37);
  for (int y = 0; y < 37; ++y) {
    for (int x = 0; x < b.image().width(); ++x) {
      const int byte = b.image().host<std::uint8_t>()(x, y);
      EXPECT_NEAR(w.image().host<std::uint16_t>()(x, y) / 257.0, byte, 0.51);
      EXPECT_NEAR(f.image().host<float>()(x, y) * 255, byte, 0.51);
      EXPECT_EQ(c.image().host<Rgb<std::uint8_t>>()(x, y).r, byte);
      EXPECT_EQ(c.image().host<Rgb<std::uint8_t>>()(x, y).g, 7);
    }
  }
}

TEST(Reduced, LeavesSmallImagesUnchanged) {
  const auto image = random_image<std::uint8_t>(40, 30, 3);
  for (int max_size : {0, 40, 100}) {
    const Reduced reduced(image, image, max_size);
    EXPECT_FALSE(reduced.is_smaller());
    EXPECT_EQ(reduced.image().data(), image.host().data);
    EXPECT_EQ(reduced.mask().data(), image.host().data);
    std::vector<Keypoint> points = {{3.25f, 4.5f, 2, 1, 1, 0}};
    reduced.to_given(points);
    EXPECT_EQ(points[0], (Keypoint{3.25f, 4.5f, 2, 1, 1, 0}));
  }
  EXPECT_THROW(Reduced(image, {}, 5), Error);
  EXPECT_THROW(Reduced(image, {}, -1), Error);
}

TEST(Reduced, PositionsAreMappedBackToTheOriginalImage) {
  const Image<std::uint8_t> image(120, 61);
  const Reduced reduced(image, {}, 40);
  ASSERT_EQ(reduced.image().height(), 20);
  std::vector<Keypoint> points = {{0, 0, 2, 0.5f, 1, 0}, {39.5f, 19.5f, 1, 0, 1, 0}};
  reduced.to_given(points);
  EXPECT_FLOAT_EQ(points[0].x, 1);  // the middle of three pixels
  EXPECT_FLOAT_EQ(points[0].y, 0.5 * 61 / 20 - 0.5);
  EXPECT_FLOAT_EQ(points[0].scale, 2 * std::sqrt(3 * 61.0 / 20));
  EXPECT_FLOAT_EQ(points[0].angle, 0.5f);
  EXPECT_FLOAT_EQ(points[1].x, 119.5f);  // image edges map to image edges
  EXPECT_FLOAT_EQ(points[1].y, 60.5f);
}

TEST(Reduced, NoUnmaskedPixelCoversAMaskedPixel) {
  const Image<std::uint8_t> image(90, 64);
  Image<std::uint8_t> mask(90, 64);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 90; ++x) mask(x, y) = x == 31 && y == 40 ? 0 : 255;
  }
  const Reduced reduced(image, mask, 40);
  const auto small = reduced.mask().host<std::uint8_t>();
  for (int y = 0; y < small.height; ++y) {
    for (int x = 0; x < small.width; ++x) {
      const bool covers = x * 2.25 < 32 && (x + 1) * 2.25 > 31 && y * 64.0 / small.height < 41 &&
                          (y + 1) * 64.0 / small.height > 40;
      EXPECT_EQ(small(x, y) == 0, covers) << x << ", " << y;
    }
  }
}

}  // namespace
}  // namespace cornea::core
