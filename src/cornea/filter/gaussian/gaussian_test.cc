// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/filter/gaussian/reflect.h"

namespace cornea {
namespace {

using namespace core;
using namespace gaussian;

Image<float> blurred(const Image<float>& image, double sigma, int threads = 2) {
  Image<float> out(image.width(), image.height());
  gaussian_blur(Context::cpu(threads), image.host(), out.host(), sigma);
  return out;
}

Image<float> filled(int width, int height, float value) {
  Image<float> image(width, height);
  for (int y = 0; y < height; ++y) std::fill_n(image.host().row(y), width, value);
  return image;
}

bool same_bytes(const Image<float>& a, const Image<float>& b) {
  return a.width() == b.width() && a.height() == b.height() &&
         std::memcmp(a.host().data, b.host().data, sizeof(float) * a.width() * a.height()) == 0;
}

// The definition in double precision, in two dimensions.
double plain_blur(const Image<float>& image, int x, int y, double sigma) {
  const int radius = static_cast<int>(std::ceil(4.0 * sigma));
  double sum = 0.0, weights = 0.0;
  for (int j = -radius; j <= radius; ++j) {
    for (int i = -radius; i <= radius; ++i) {
      const double weight = std::exp(-(i * i + j * j) / (2.0 * sigma * sigma));
      sum += weight * image(reflect101(x + i, image.width()), reflect101(y + j, image.height()));
      weights += weight;
    }
  }
  return sum / weights;
}

TEST(Reflect101, MirrorsWithoutRepeatingTheEdge) {
  const int expected[] = {1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1};
  for (int i = -5; i <= 7; ++i) EXPECT_EQ(reflect101(i, 4), expected[i + 5]) << i;
}

TEST(Reflect101, WorksForOneAndTwoPixelsAndForTheLargestIndex) {
  for (int i = -9; i <= 9; ++i) {
    EXPECT_EQ(reflect101(i, 1), 0);
    EXPECT_EQ(reflect101(i, 2), std::abs(i) % 2);
  }
  EXPECT_EQ(reflect101(std::numeric_limits<int>::min(), 2), 0);
  EXPECT_EQ(reflect101(std::numeric_limits<int>::max(), std::numeric_limits<int>::max()),
            std::numeric_limits<int>::max() - 2);
}

TEST(GaussianKernel, SumsToOneAndIsSymmetric) {
  for (double sigma : {0.1, 0.5, 1.0, 1.6, 3.7, 20.0}) {
    const std::vector<float> kernel = gaussian_kernel(sigma, gaussian_radius(sigma));
    EXPECT_NEAR(std::accumulate(kernel.begin(), kernel.end(), 0.0), 1.0, 1e-6) << sigma;
    for (std::size_t i = 0; i < kernel.size(); ++i)
      EXPECT_EQ(kernel[i], kernel[kernel.size() - 1 - i]);
  }
}

TEST(GaussianKernel, HasTheRatiosOfTheGaussian) {
  const std::vector<float> kernel = gaussian_kernel(2.0, 8);
  EXPECT_NEAR(kernel[10] / kernel[8], std::exp(-0.5), 1e-6);
  EXPECT_NEAR(kernel[12] / kernel[8], std::exp(-2.0), 1e-6);
}

TEST(GaussianRadius, IsFourSigmaRoundedUp) {
  EXPECT_EQ(gaussian_radius(0.0), 0);
  EXPECT_EQ(gaussian_radius(0.01), 1);
  EXPECT_EQ(gaussian_radius(1.0), 4);
  EXPECT_EQ(gaussian_radius(1.6), 7);
}

TEST(GaussianBlur, KeepsAConstantImage) {
  const Image<float> out = blurred(filled(53, 37, 0.625f), 2.5);
  for (int y = 0; y < 37; ++y) {
    for (int x = 0; x < 53; ++x) ASSERT_NEAR(out(x, y), 0.625f, 1e-6f);
  }
}

TEST(GaussianBlur, TurnsAnImpulseIntoTheKernelProduct) {
  Image<float> image = filled(41, 31, 0.0f);
  image(20, 15) = 1.0f;
  const Image<float> out = blurred(image, 1.6);
  const std::vector<float> kernel = gaussian_kernel(1.6, 7);
  for (int y = 0; y < 31; ++y) {
    for (int x = 0; x < 41; ++x) {
      const int i = x - 20 + 7, j = y - 15 + 7;
      const bool inside = i >= 0 && i < 15 && j >= 0 && j < 15;
      ASSERT_NEAR(out(x, y), inside ? kernel[i] * kernel[j] : 0.0f, 1e-8f) << x << ", " << y;
    }
  }
}

TEST(GaussianBlur, AgreesWithTheDefinitionUpToTheBorders) {
  const struct {
    int width, height;
    double sigma;
  } cases[] = {{70, 41, 1.2}, {33, 90, 0.6}, {5, 64, 3.0}, {64, 3, 3.0},
               {2, 2, 2.0},   {1, 9, 1.5},   {9, 1, 1.5}};
  for (const auto& c : cases) {
    const Image<float> image = testing::random_image<float>(c.width, c.height, 7);
    const Image<float> out = blurred(image, c.sigma);
    for (int y = 0; y < c.height; ++y) {
      for (int x = 0; x < c.width; ++x) {
        ASSERT_NEAR(out(x, y), plain_blur(image, x, y, c.sigma), 1e-5)
            << c.width << " x " << c.height << " at " << x << ", " << y;
      }
    }
  }
}

TEST(GaussianBlur, LeavesASinglePixelAlone) {
  EXPECT_NEAR(blurred(filled(1, 1, 0.3f), 4.0)(0, 0), 0.3f, 1e-6f);
}

TEST(GaussianBlur, CopiesForSigmaZeroAndAcceptsAnEmptyImage) {
  const Image<float> image = testing::random_image<float>(12, 9, 3);
  EXPECT_TRUE(same_bytes(blurred(image, 0.0), image));
  EXPECT_TRUE(blurred(Image<float>(0, 0), 1.0).empty());
}

TEST(GaussianBlur, GivesTheSameBytesInPlaceAndOnAnyNumberOfThreads) {
  for (double sigma : {0.4, 2.0, 9.0}) {
    const Image<float> image = testing::random_image<float>(75, 301, 11);
    const Image<float> one = blurred(image, sigma, 1);
    EXPECT_TRUE(same_bytes(one, blurred(image, sigma, 2)));
    EXPECT_TRUE(same_bytes(one, blurred(image, sigma, 5)));
    for (int threads : {1, 3}) {
      Image<float> in_place = testing::random_image<float>(75, 301, 11);
      gaussian_blur(Context::cpu(threads), in_place.host(), in_place.host(), sigma);
      EXPECT_TRUE(same_bytes(one, in_place)) << sigma << ", " << threads << " threads";
    }
  }
}

TEST(GaussianBlur, RefusesASigmaThatIsNegativeOrNotANumberAndSizesThatDiffer) {
  const Image<float> image = filled(4, 4, 0.0f);
  EXPECT_THROW(blurred(image, -1.0), Error);
  EXPECT_THROW(blurred(image, std::nan("")), Error);
  Image<float> other(4, 5);
  EXPECT_THROW(gaussian_blur(Context::cpu(1), image.host(), other.host(), 1.0), Error);
  EXPECT_THROW(gaussian_kernel(1.0, -1), Error);
}

}  // namespace
}  // namespace cornea
