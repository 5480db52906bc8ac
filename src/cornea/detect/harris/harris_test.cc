// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/harris/harris.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "cornea/core/build.h"
#include "cornea/core/testing.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/filter/gaussian/reflect.h"

namespace cornea {
namespace {

using namespace core;
using namespace gaussian;

// The definition in double precision; `gray` is on the 0..1 scale.
Image<double> plain_response(const Image<double>& pixels, const HarrisOptions& o) {
  const HostView<const double> gray = pixels.host();
  const int w = gray.width, h = gray.height, r = o.window / 2;
  auto at = [&](int x, int y) { return gray(reflect101(x, w), reflect101(y, h)); };
  std::vector<double> weight(o.window, 1.0 / o.window);
  if (o.shape == WindowShape::gaussian) {
    const auto kernel = gaussian_kernel(o.sigma, r);
    std::copy(kernel.begin(), kernel.end(), weight.begin());
  }
  Image<double> map(w, h);
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      double xx = 0, xy = 0, yy = 0;
      for (int j = -r; j <= r; ++j) {
        for (int i = -r; i <= r; ++i) {
          const int px = reflect101(x + i, w), py = reflect101(y + j, h);
          const double gx =
              (at(px + 1, py - 1) - at(px - 1, py - 1) + 2 * (at(px + 1, py) - at(px - 1, py)) +
               at(px + 1, py + 1) - at(px - 1, py + 1)) /
              4;
          const double gy =
              (at(px - 1, py + 1) - at(px - 1, py - 1) + 2 * (at(px, py + 1) - at(px, py - 1)) +
               at(px + 1, py + 1) - at(px + 1, py - 1)) /
              4;
          const double g = weight[i + r] * weight[j + r];
          xx += g * gx * gx;
          xy += g * gx * gy;
          yy += g * gy * gy;
        }
      }
      map(x, y) = o.measure == CornerMeasure::harris
                      ? xx * yy - xy * xy - o.k * (xx + yy) * (xx + yy)
                      : (xx + yy) / 2 - std::sqrt((xx - yy) * (xx - yy) / 4 + xy * xy);
    }
  }
  return map;
}

template <class T>
Image<double> unit_gray(const Image<T>& image, double white) {
  Image<double> gray(image.width(), image.height());
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) gray(x, y) = image(x, y) / white;
  }
  return gray;
}

HarrisOptions random_options(Random& random) {
  HarrisOptions o;
  o.measure = random.integer(0, 1) ? CornerMeasure::harris : CornerMeasure::shi_tomasi;
  o.window = 2 * random.integer(1, 7) + 1;
  o.shape = random.integer(0, 1) ? WindowShape::box : WindowShape::gaussian;
  o.sigma = random.uniform(0.5, 2.5);
  o.k = random.uniform(0.03, 0.06);
  return o;
}

class HarrisTest : public testing::OnEveryDevice {
 protected:
  template <class T>
  void agrees_with_the_definition(double white) {
    Random random(7);
    for (int round = 0; round < 40; ++round) {
      const int w = random.integer(1, 120), h = random.integer(1, 90);
      const HarrisOptions options = round % 2 ? HarrisOptions() : random_options(random);
      const Image<T> image = testing::random_image<T>(w, h, round);
      const Image<float> got = Harris(context, options).response(image);
      const Image<double> expected = plain_response(unit_gray(image, white), options);
      double largest = 0, error = 0;
      for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) {
          largest = std::max(largest, std::abs(expected(x, y)));
          error = std::max(error, std::abs(got(x, y) - expected(x, y)));
        }
      }
      EXPECT_LE(error, 1e-5 * largest + 1e-12) << "round " << round << ": " << w << " x " << h;
    }
  }
};

TEST_P(HarrisTest, AgreesWithTheDefinitionOn8Bit) { agrees_with_the_definition<std::uint8_t>(255); }
TEST_P(HarrisTest, AgreesWithTheDefinitionOn16Bit) {
  agrees_with_the_definition<std::uint16_t>(65535);
}
TEST_P(HarrisTest, AgreesWithTheDefinitionOnFloat) { agrees_with_the_definition<float>(1); }

// The CPU's bytes with one thread, by two threads or by the GPU.
template <class T>
void gives_the_cpus_bytes(const Context& context) {
  const Context reference = Context::cpu(1);
  const Context other = context.is_cuda() ? context : Context::cpu(2);
  Random random(19);
  for (int round = 0; round < 40; ++round) {
    const int w = random.integer(17, 200), h = random.integer(17, 300);
    HarrisOptions options = random_options(random);
    options.peaks.subpixel = Subpixel::quadratic;
    const Image<T> image = testing::random_image<T>(w, h, round);
    const Image<float> a = Harris(reference, options).response(image);
    const Image<float> b = Harris(other, options).response(image);
    int wrong = 0;
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) wrong += a(x, y) != b(x, y);
    }
    ASSERT_EQ(wrong, 0) << "round " << round << ": " << w << " x " << h;
    EXPECT_TRUE(Harris(reference, options).detect(image) == Harris(other, options).detect(image));
  }
}

TEST_P(HarrisTest, GivesTheCpusBytesOn8Bit) { gives_the_cpus_bytes<std::uint8_t>(context); }
TEST_P(HarrisTest, GivesTheCpusBytesOn16Bit) { gives_the_cpus_bytes<std::uint16_t>(context); }
TEST_P(HarrisTest, GivesTheCpusBytesOnFloat) { gives_the_cpus_bytes<float>(context); }

TEST_P(HarrisTest, FindsTheFourCornersOfASquareSymmetrically) {
  // Corners between pixels: the square covers 15.5 .. 40.5 and 12.5 .. 30.5.
  Image<std::uint8_t> image(60, 50);
  for (int y = 0; y < 50; ++y) {
    for (int x = 0; x < 60; ++x) image(x, y) = x >= 16 && x <= 40 && y >= 13 && y <= 30 ? 220 : 30;
  }
  for (CornerMeasure measure : {CornerMeasure::harris, CornerMeasure::shi_tomasi}) {
    HarrisOptions options;
    options.measure = measure;
    options.peaks.threshold = 0.2;
    options.peaks.nms = 5;
    options.peaks.subpixel = Subpixel::quadratic;
    const auto corners = Harris(context, options).detect(image);
    ASSERT_EQ(corners.size(), 4u);
    const float expected[4][2] = {{16, 13}, {40, 13}, {16, 30}, {40, 30}};
    for (int i = 0; i < 4; ++i) {
      // The response peaks just inside a corner.
      EXPECT_LE(std::hypot(corners[i].x - expected[i][0], corners[i].y - expected[i][1]), 1.0f);
    }
    // The square is symmetric.
    EXPECT_NEAR(corners[0].x + corners[1].x, 56, 0.01);
    EXPECT_NEAR(corners[0].y + corners[2].y, 43, 0.01);
  }
}

TEST_P(HarrisTest, FindsNothingInAFlatImage) {
  Image<std::uint8_t> image(64, 64);
  std::fill_n(&image(0, 0), 64 * 64, std::uint8_t{128});
  EXPECT_TRUE(Harris(context).detect(image).empty());
}

INSTANTIATE_TEST_SUITE_P(, HarrisTest, testing::every_device(), testing::device_name);

TEST(HarrisOptions, RejectsInvalidOptions) {
  auto refuses = [](auto change) {
    HarrisOptions options;
    change(options);
    EXPECT_THROW(options.validate(), Error);
  };
  refuses([](auto& o) { o.window = 4; });
  refuses([](auto& o) { o.window = 1; });
  refuses([](auto& o) { o.window = 17; });
  refuses([](auto& o) { o.k = -0.1; });
  refuses([](auto& o) { o.k = std::nan(""); });
  refuses([](auto& o) { o.shape = WindowShape::gaussian, o.sigma = 0; });
  refuses([](auto& o) { o.shape = WindowShape::gaussian, o.sigma = 20000; });
  refuses([](auto& o) { o.peaks.threshold = std::nan(""); });
}

}  // namespace
}  // namespace cornea
