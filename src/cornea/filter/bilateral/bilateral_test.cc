// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/bilateral/bilateral.h"

#include <algorithm>
#include <cmath>

#include "cornea/core/error.h"
#include "cornea/core/random.h"
#include "cornea/core/testing.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea {
namespace {

using namespace core;

// The definition in double precision, at one pixel of an image of 0..1.
double plain_bilateral(const Image<float>& image, int x, int y, double sigma, double sigma_range,
                       int radius) {
  double sum = 0, weights = 0;
  const double own = image(x, y);
  for (int n = std::max(-radius, -y); n <= std::min(radius, image.height() - 1 - y); ++n) {
    for (int m = std::max(-radius, -x); m <= std::min(radius, image.width() - 1 - x); ++m) {
      const double d = 255 * (image(x + m, y + n) - own);
      const double w = std::exp(-(m * m + n * n) / (2 * sigma * sigma)) *
                       std::exp(-d * d / (2 * sigma_range * sigma_range));
      weights += w;
      sum += w * image(x + m, y + n);
    }
  }
  return sum / weights;
}

// The same in float, with the operations and the order of additions that every device must keep:
// apart, the neighbours before the pixel in rows of the previous piece; those before it in its own
// piece, in reading order; those after it, column by column from right to left, each downwards.
float bilateral_in_order(const Image<float>& image, int x, int y, const BilateralOptions& options) {
  using bilateral::FloatOps;
  const int w = image.width(), h = image.height();
  const int radius = std::min(options.window_radius(), std::max(w, h));
  const int rows = std::max(32, radius), piece = y / rows * rows - y;
  const auto spatial = float(bilateral::exponent_scale(options.sigma));
  const auto range = float(bilateral::exponent_scale(options.sigma_range * (1.0f / 255)));
  struct Sums {
    float sum = 0, weights = 0;
  } before, preceding, following;
  const float own = image(x, y) * range;
  const auto add = [&](Sums& to, int m, int n) {
    if (x + m < 0 || x + m >= w || y + n < 0 || y + n >= h) return;
    const float d = image(x + m, y + n) * range - own;
    const float weight = bilateral::weight<FloatOps>(
        d, bilateral::column_exponent(spatial, m) + bilateral::row_exponent(spatial, n));
    to.weights += weight;
    to.sum = std::fma(weight, d, to.sum);
  };
  for (int n = -radius; n < 0; ++n) {
    for (int m = -radius; m <= radius; ++m) add(n < piece ? before : preceding, m, n);
  }
  for (int m = -radius; m < 0; ++m) add(preceding, m, 0);
  for (int m = radius; m >= -radius; --m) {
    for (int n = m > 0 ? 0 : 1; n <= radius; ++n) add(following, m, n);
  }
  const float sum = (preceding.sum + following.sum) + before.sum;
  const float weights = 1 + ((preceding.weights + following.weights) + before.weights);
  return image(x, y) + sum / (weights * range);
}

class Bilateral : public testing::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(, Bilateral, testing::every_device(), testing::device_name);

TEST_P(Bilateral, AgreesWithTheDefinition) {
  Random random(5);
  for (int round = 0; round < 30; ++round) {
    const int w = random.integer(1, 90), h = random.integer(1, 60);
    const BilateralOptions options{0.4 + 5 * random.uniform(), 1 + 60 * random.uniform(),
                                   round % 3 ? 0 : random.integer(1, 20)};
    const Image<float> image = testing::random_image<float>(w, h, round);
    BilateralFilter filter(context, options);
    const Image<float> out = filter.apply(image);
    double largest = 0;
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        const double expected = plain_bilateral(image, x, y, options.sigma, options.sigma_range,
                                                options.window_radius());
        largest = std::max(largest, std::abs(out(x, y) - expected) * 255);
      }
    }
    EXPECT_LT(largest, 1e-3) << w << " x " << h << ", radius " << options.window_radius();
  }
}

TEST_P(Bilateral, AddsInOneOrderWhateverTheImageAndTheWindow) {
  const struct {
    int w, h, radius;
  } cases[] = {{90, 50, 60}, {70, 33, 36}, {40, 40, 40}, {40, 60, 60}, {37, 70, 5}, {41, 66, 33}};
  for (const auto& [w, h, radius] : cases) {
    const BilateralOptions options{radius / 3.0, 40, radius};
    const Image<float> image = testing::random_image<float>(w, h, w);
    BilateralFilter filter(context, options);
    const Image<float> out = filter.apply(image);
    int different = 0;
    for (int y = h - 1; y >= 0; y -= 3) {
      for (int x = 0; x < w; ++x)
        different += out(x, y) != bilateral_in_order(image, x, y, options);
    }
    EXPECT_EQ(different, 0) << w << " x " << h << ", radius " << radius;
  }
}

TEST_P(Bilateral, SigmaRangeIsInGrayLevelsForEveryPixelType) {
  const auto image = testing::random_image<std::uint8_t>(60, 40, 2);
  Image<std::uint16_t> wide(60, 40);
  Image<float> unit(60, 40);
  for (int i = 0; i < 60 * 40; ++i) {
    wide(i % 60, i / 60) = std::uint16_t(image(i % 60, i / 60) * 257);
    unit(i % 60, i / 60) = float(image(i % 60, i / 60)) / 255.0f;
  }
  BilateralFilter filter(context, {2, 40});
  Image<float> from_8(60, 40), from_16(60, 40), from_float(60, 40);
  filter.apply(image, from_8);
  filter.apply(wide, from_16);
  filter.apply(unit, from_float);
  for (int i = 0; i < 60 * 40; ++i) {
    ASSERT_NEAR(from_16(i % 60, i / 60), from_8(i % 60, i / 60), 1e-3);
    ASSERT_NEAR(from_float(i % 60, i / 60) * 255, from_8(i % 60, i / 60), 1e-3);
  }
}

TEST_P(Bilateral, KeepsAnEdgeAndSmoothsTheRest) {
  Random random(1);
  Image<std::uint8_t> image(80, 40);
  for (int i = 0; i < 80 * 40; ++i) {
    image(i % 80, i / 80) = std::uint8_t((i % 80 < 40 ? 60 : 190) + random.integer(-8, 8));
  }
  BilateralFilter filter(context, {3, 30});
  Image<float> out(80, 40);
  filter.apply(image, out);
  for (int y = 0; y < 40; ++y) {
    EXPECT_NEAR(out(39, y), 60, 4);
    EXPECT_NEAR(out(40, y), 190, 4);
  }
}

TEST_P(Bilateral, AWindowMayBeLargerThanTheImage) {
  // So large a sigma that all pixels count, and windows wider and higher than the image.
  for (const auto& [width, height] : {std::pair{30, 17}, std::pair{17, 30}, std::pair{900, 2}}) {
    const Image<float> image = testing::random_image<float>(width, height, 9);
    for (const int radius : {20, 4096}) {
      const Image<float> out = BilateralFilter(context, {300, 200, radius}).apply(image);
      for (int i = 0; i < width * height; i += 7) {
        const int x = i % width, y = i / width;
        ASSERT_NEAR(out(x, y), plain_bilateral(image, x, y, 300, 200, radius), 1e-5)
            << x << ", " << y << ", radius " << radius;
      }
    }
  }
}

TEST_P(Bilateral, WideWindowsKeepTheCentrePixel) {
  const Image<float> image = testing::random_image<float>(1300, 3, 9);
  BilateralFilter filter(context, {1, 20, 600});
  const Image<float> out = filter.apply(image);
  for (int x = 0; x < 1300; x += 37) {
    EXPECT_NEAR(out(x, 1), plain_bilateral(image, x, 1, 1, 20, 600), 3e-6);
  }
}

TEST(BilateralOptions, AreChecked) {
  const Context cpu = Context::cpu();
  EXPECT_THROW(BilateralFilter(cpu, {0, 20}), Error);
  EXPECT_THROW(BilateralFilter(cpu, {4, 0}), Error);
  EXPECT_THROW(BilateralFilter(cpu, {4, 20, -1}), Error);
  EXPECT_EQ(BilateralOptions({4.1, 20}).window_radius(), 13);
}

TEST(BilateralThreads, GiveTheSameBytes) {
  const auto image = testing::random_image<float>(150, 90, 4);
  BilateralFilter one(Context::cpu(1), {2}), three(Context::cpu(3), {2});
  const Image<float> a = one.apply(image), b = three.apply(image);
  for (int i = 0; i < 150 * 90; ++i) ASSERT_EQ(a(i % 150, i / 150), b(i % 150, i / 150));
}

// The table of exponents is larger than the shared memory that a kernel gets without asking.
TEST(BilateralDevices, RunTheWidestWindow) {
  if (cuda_devices().empty()) GTEST_SKIP() << "no CUDA device";
  const Image<float> image = testing::random_image<float>(5000, 2, 9);
  BilateralFilter widest(Context::cuda(), {1, 20, 4096}), enough(Context::cuda(), {1, 20, 10});
  const Image<float> a = widest.apply(image), b = enough.apply(image);
  for (int x = 0; x < 5000; x += 37) EXPECT_NEAR(a(x, 1), b(x, 1), 3e-6);
}

// CPU and CUDA on images of many sizes and windows of many radii, so that every border of an image
// and of a piece of work is covered, including flat and black regions.
TEST(BilateralDevices, GiveTheSameBits) {
  if (cuda_devices().empty()) GTEST_SKIP() << "no CUDA device";
  const Context cpu = Context::cpu(), cuda = Context::cuda();
  Random random(18);
  for (int round = 0; round < 60; ++round) {
    const int w = round == 0 ? 1 : random.integer(1, 300),
              h = round < 2 ? 1 : random.integer(1, 250);
    BilateralOptions options{.sigma = 0.5 * std::exp(random.uniform() * std::log(16.0)),
                             .sigma_range = std::exp(random.uniform() * std::log(200.0))};
    if (round % 5 == 4) options.radius = random.integer(1, 60);
    Image<float> image = testing::random_image<float>(w, h, round);
    for (int y = 0; y < h / 2; ++y) {
      for (int x = 0; x < w; ++x)
        image(x, y) = round % 3 == 0 ? 0 : std::round(image(x, y) * 4) / 4;
    }
    BilateralFilter on_cpu(cpu, options), on_cuda(cuda, options);
    const Image<float> a = on_cpu.apply(image), b = on_cuda.apply(image);
    int different = 0;
    for (int p = 0; p < w * h; ++p) different += a(p % w, p / w) != b(p % w, p / w);
    EXPECT_EQ(different, 0) << w << " x " << h << ", sigma " << options.sigma << ", radius "
                            << options.window_radius();
  }
}

}  // namespace
}  // namespace cornea
