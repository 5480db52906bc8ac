// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/texture.h"

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "cornea/scene/noise.h"

namespace cornea {
namespace {

using namespace scene;

constexpr Pattern kPatterns[] = {Pattern::plain,  Pattern::bricks,  Pattern::slabs,
                                 Pattern::crate,  Pattern::page,    Pattern::poster,
                                 Pattern::blocks, Pattern::windows, Pattern::collage};

TEST(Texture, StaysBetweenDarkAndLight) {
  for (Pattern pattern : kPatterns) {
    const Texture texture{
        .pattern = pattern, .seed = 5, .width = 2.0, .height = 3.0, .dark = 0.2, .light = 0.7};
    for (double v = 0.0; v <= 3.0; v += 0.053) {
      for (double u = 0.0; u <= 2.0; u += 0.047) {
        const double value = reflectance(texture, u, v, 0.004);
        ASSERT_GE(value, 0.2 - 1e-12);
        ASSERT_LE(value, 0.7 + 1e-12);
      }
    }
  }
}

TEST(Texture, DependsOnlyOnTheSeedAndThePosition) {
  for (Pattern pattern : kPatterns) {
    const Texture one{.pattern = pattern, .seed = 1, .width = 1.5, .height = 1.5};
    Texture other = one;
    other.seed = 2;
    int differing = 0;
    for (double v = 0.01; v < 1.5; v += 0.07) {
      for (double u = 0.01; u < 1.5; u += 0.07) {
        ASSERT_EQ(reflectance(one, u, v, 0.002), reflectance(one, u, v, 0.002));
        differing += reflectance(one, u, v, 0.002) != reflectance(other, u, v, 0.002);
      }
    }
    EXPECT_GT(differing, 100) << static_cast<int>(pattern);
  }
}

// The mean over a wide sample is close to the mean of narrow ones: the brightness does not jump as
// cameras move away.
TEST(Texture, FadesTowardsItsMeanForWideSamples) {
  const Texture bricks{
      .pattern = Pattern::bricks, .seed = 3, .width = 50, .height = 50, .cell = 0.1};
  double narrow = 0.0, wide = 0.0;
  const int n = 120;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      narrow += reflectance(bricks, 20 + i * 0.0371, 20 + j * 0.0367, 0.002);
      wide += reflectance(bricks, 20 + i * 0.0371, 20 + j * 0.0367, 0.4);
    }
  }
  EXPECT_NEAR(narrow / (n * n), wide / (n * n), 0.06);
}

TEST(Noise, IsContinuousAndCentred) {
  double sum = 0.0, largest_jump = 0.0;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    const double x = -20.0 + 0.01 * i, value = noise(7, x, 0.37 * x);
    EXPECT_LE(std::abs(value), 1.0);
    largest_jump = std::max(largest_jump, std::abs(noise(7, x + 1e-6, 0.37 * x) - value));
    sum += value;
  }
  EXPECT_LT(largest_jump, 1e-4);
  EXPECT_NEAR(sum / n, 0.0, 0.25);
}

TEST(Stripes, CoverTheCorrectShareAtEveryWidth) {
  EXPECT_NEAR(stripes(0.15, 1.0, 0.3, 0.01), 1.0, 1e-9);
  EXPECT_NEAR(stripes(0.65, 1.0, 0.3, 0.01), 0.0, 1e-9);
  EXPECT_NEAR(stripes(0.30, 1.0, 0.3, 0.02), 0.5, 1e-9);
  EXPECT_NEAR(stripes(-3.85, 1.0, 0.3, 0.01), 1.0, 1e-9);
  EXPECT_NEAR(stripes(12.34, 1.0, 0.3, 1000.0), 0.3, 1e-3);
}

}  // namespace
}  // namespace cornea
