// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/moravec/moravec.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"

namespace cornea {
namespace {

using namespace core;

// The definition, pixel by pixel: the smallest of eight sums of squared differences.
template <class T>
Image<double> plain_response(const Image<T>& pixels, int window) {
  const HostView<const T> image = pixels.host();
  const int w = image.width, h = image.height, r = window / 2;
  Image<double> result(w, h);
  const HostView<double> map = result.host();
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      map(x, y) = 0;
      if (x < r + 1 || y < r + 1 || x >= w - r - 1 || y >= h - r - 1) continue;
      std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
      for (int sy = -1; sy <= 1; ++sy) {
        for (int sx = -1; sx <= 1; ++sx) {
          if (sx == 0 && sy == 0) continue;
          std::uint64_t sum = 0;
          for (int j = -r; j <= r; ++j) {
            for (int i = -r; i <= r; ++i) {
              const std::int64_t d =
                  std::int64_t(image(x + i + sx, y + j + sy)) - std::int64_t(image(x + i, y + j));
              sum += d * d;
            }
          }
          smallest = std::min(smallest, sum);
        }
      }
      map(x, y) = static_cast<double>(smallest);
    }
  }
  return result;
}

class MoravecTest : public testing::OnEveryDevice {
 protected:
  template <class T>
  void is_bit_equal_to_the_definition(double unit) {
    Random random(2024);
    for (int round = 0; round < 100; ++round) {
      const int w = random.integer(1, 300), h = random.integer(1, 300);
      const int window = round % 4 ? 3 : 2 * random.integer(1, 7) + 1;
      Image<T> image = testing::random_image<T>(w, h, round);
      // Every other image is so dark that a sum that is off by one changes the returned float.
      for (int i = 0; round % 2 && i < w * h; ++i) image.host().data[i] %= 256;
      MoravecOptions options;
      options.window = window;
      const Image<float> got = Moravec(context, options).response(image);
      const Image<double> expected = plain_response(image, window);
      int wrong = 0;
      for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) wrong += got(x, y) != static_cast<float>(expected(x, y) / unit);
      }
      ASSERT_EQ(wrong, 0) << "round " << round << ": " << w << " x " << h << ", window " << window;
    }
  }
};

TEST_P(MoravecTest, IsBitEqualToTheDefinitionOn8Bit) {
  is_bit_equal_to_the_definition<std::uint8_t>(1);
}
TEST_P(MoravecTest, IsBitEqualToTheDefinitionOn16Bit) {
  is_bit_equal_to_the_definition<std::uint16_t>(257.0 * 257.0);
}

TEST_P(MoravecTest, FindsNothingInAFlatImageNorOnAStraightEdge) {
  Image<std::uint8_t> flat(40, 40), edge(40, 40);
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 40; ++x) {
      flat(x, y) = 77;
      edge(x, y) = x < 20 ? 10 : 200;
    }
  }
  MoravecOptions options;
  options.peaks.threshold = 0;
  Moravec moravec(context, options);
  EXPECT_TRUE(moravec.detect(flat).empty());
  EXPECT_TRUE(moravec.detect(edge).empty());
}

TEST_P(MoravecTest, FindsTheFourCornersOfASquare) {
  Image<std::uint8_t> image(60, 50);
  for (int y = 0; y < 50; ++y) {
    for (int x = 0; x < 60; ++x) image(x, y) = x >= 15 && x < 40 && y >= 12 && y < 30 ? 220 : 30;
  }
  const auto corners = Moravec(context).detect(image);
  ASSERT_EQ(corners.size(), 4u);
  const float expected[4][2] = {{15, 12}, {39, 12}, {15, 29}, {39, 29}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_LE(std::abs(corners[i].x - expected[i][0]), 1.5f);
    EXPECT_LE(std::abs(corners[i].y - expected[i][1]), 1.5f);
  }
}

TEST_P(MoravecTest, ThresholdsMeanTheSameForEveryPixelType) {
  const Image<std::uint8_t> bytes = testing::random_image<std::uint8_t>(90, 70, 3);
  Image<std::uint16_t> words(90, 70);
  Image<float> floats(90, 70);
  for (int y = 0; y < 70; ++y) {
    for (int x = 0; x < 90; ++x) {
      words(x, y) = bytes(x, y) * 257;
      floats(x, y) = bytes(x, y) / 255.0f;
    }
  }
  MoravecOptions options;
  options.peaks.threshold = 20000;
  Moravec moravec(context, options);
  const auto from_bytes = moravec.detect(bytes);
  EXPECT_GT(from_bytes.size(), 50u);
  EXPECT_TRUE(moravec.detect(words) == from_bytes);
  EXPECT_TRUE(moravec.detect(floats) == from_bytes);
}

INSTANTIATE_TEST_SUITE_P(, MoravecTest, testing::every_device(), testing::device_name);

TEST(MoravecOptions, RefusesAnEvenOrHugeWindow) {
  for (int window : {-3, 0, 1, 4, 17}) {
    MoravecOptions options;
    options.window = window;
    EXPECT_THROW(options.validate(), Error) << window;
  }
}

}  // namespace
}  // namespace cornea
