// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/degrade.h"

#include <cmath>
#include <cstring>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/scene/scene_testing.h"

namespace cornea {
namespace {

using namespace core;
using namespace gaussian;

using Eigen::Vector2d;
using Eigen::Vector3d;

Image<float> constant(int width, int height, float value) {
  Image<float> image(width, height);
  for (int y = 0; y < height; ++y) std::fill_n(image.host().row(y), width, value);
  return image;
}

// A smooth picture, which resampling hardly changes.
Image<float> waves(int width, int height) {
  Image<float> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image(x, y) = static_cast<float>(0.5 + 0.2 * std::sin(0.21 * x + 0.05 * y) +
                                       0.2 * std::cos(0.04 * x - 0.17 * y));
    }
  }
  return image;
}

Degraded degraded(const Image<float>& image, const Degradation& how, int threads = 2) {
  return degrade(Context::cpu(threads), image.host(), how);
}

double mean(const Image<float>& image) {
  double sum = 0.0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) sum += image(x, y);
  }
  return sum / (double(image.width()) * image.height());
}

double deviation(const Image<float>& image) {
  const double middle = mean(image);
  double sum = 0.0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) sum += std::pow(image(x, y) - middle, 2.0);
  }
  return std::sqrt(sum / (double(image.width()) * image.height()));
}

double gradient_energy(const Image<float>& image) {
  double sum = 0.0;
  for (int y = 1; y < image.height(); ++y) {
    for (int x = 1; x < image.width(); ++x) {
      sum += std::pow(image(x, y) - image(x - 1, y), 2.0) +
             std::pow(image(x, y) - image(x, y - 1), 2.0);
    }
  }
  return sum;
}

double largest_difference(const Image<float>& a, const Image<float>& b) {
  double largest = 0.0;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      largest = std::max<double>(largest, std::abs(a(x, y) - b(x, y)));
    }
  }
  return largest;
}

TEST(Degrade, DoesNotChangeThePictureByDefault) {
  const Image<float> image = testing::random_image<float>(31, 22, 1);
  const Degraded result = degraded(image, {});
  EXPECT_LT(largest_difference(result.image, image), 1e-7);
  EXPECT_EQ(result.from_original, Eigen::Matrix3d::Identity());
}

TEST(Degrade, AddsNoiseOfTheGivenDeviation) {
  const Image<float> noisy = degraded(constant(300, 200, 0.5f), {.noise = 8.0}).image;
  EXPECT_NEAR(255.0 * deviation(noisy), 8.0, 0.1);
  EXPECT_NEAR(255.0 * mean(noisy), 127.5, 0.15);
}

TEST(Degrade, NoiseDependsOnTheSeedAndNotOnTheThreads) {
  const Image<float> image = waves(90, 70);
  const Degradation how{.rotate_degrees = 20.0, .scale = 0.7, .blur = 1.0, .noise = 5.0, .seed = 3};
  Degradation other = how;
  other.seed = 4;
  const Degraded one = degraded(image, how, 1);
  EXPECT_TRUE(testing::same_bytes(one.image, degraded(image, how, 2).image));
  EXPECT_TRUE(testing::same_bytes(one.image, degraded(image, how, 5).image));
  EXPECT_FALSE(testing::same_bytes(one.image, degraded(image, other, 1).image));
}

TEST(Degrade, ScalesContrastAboutMiddleGrayAndAddsBrightness) {
  const Image<float> image = waves(80, 60);
  const Image<float> result = degraded(image, {.contrast = 0.5, .brightness = 20.0}).image;
  for (int y = 0; y < 60; ++y) {
    for (int x = 0; x < 80; ++x) {
      ASSERT_NEAR(result(x, y), (image(x, y) - 0.5) * 0.5 + 0.5 + 20.0 / 255.0, 1e-6);
    }
  }
}

TEST(Degrade, KeepsValuesBetweenBlackAndWhite) {
  const Image<float> result = degraded(waves(80, 60), {.contrast = 50.0, .noise = 100.0}).image;
  for (int y = 0; y < 60; ++y) {
    for (int x = 0; x < 80; ++x) {
      ASSERT_GE(result(x, y), 0.0f);
      ASSERT_LE(result(x, y), 1.0f);
    }
  }
}

TEST(Degrade, BlurReducesGradients) {
  const Image<float> image = testing::random_image<float>(64, 48, 5);
  const Image<float> result = degraded(image, {.blur = 1.5}).image;
  EXPECT_LT(gradient_energy(result), 0.02 * gradient_energy(image));
  EXPECT_NEAR(mean(result), mean(image), 0.01);
}

TEST(Degrade, RotatesByNinetyDegreesExactly) {
  const Image<float> image = testing::random_image<float>(41, 41, 6);
  const Image<float> result = degraded(image, {.rotate_degrees = 90.0}).image;
  for (int y = 0; y < 41; ++y) {  // clockwise: the left column becomes the top row
    for (int x = 0; x < 41; ++x) ASSERT_NEAR(result(x, y), image(y, 40 - x), 1e-6);
  }
}

TEST(Degrade, MovesContentWhereTheMatrixSays) {
  const Image<float> image = waves(120, 90);
  for (double scale : {0.8, 1.0, 1.7}) {
    const Degraded result = degraded(image, {.rotate_degrees = 33.0, .scale = scale});
    EXPECT_EQ(result.image.width(), std::lround(120 * scale));
    EXPECT_EQ(result.image.height(), std::lround(90 * scale));
    const Eigen::Matrix3d back = result.from_original.inverse();
    int compared = 0;
    for (int y = 0; y < result.image.height(); ++y) {
      for (int x = 0; x < result.image.width(); ++x) {
        const Vector2d p = transform(back, Vector2d(x, y));
        if (p.x() < 8 || p.y() < 8 || p.x() > 111 || p.y() > 81) continue;
        const double expected = 0.5 + 0.2 * std::sin(0.21 * p.x() + 0.05 * p.y()) +
                                0.2 * std::cos(0.04 * p.x() - 0.17 * p.y());
        ASSERT_NEAR(result.image(x, y), expected, scale < 1.0 ? 0.01 : 0.001);
        ++compared;
      }
    }
    EXPECT_GT(compared, 2000);
  }
}

TEST(Degrade, AreasUncoveredByARotationAreMeanGray) {
  const Image<float> image = waves(100, 40);
  EXPECT_NEAR(degraded(image, {.rotate_degrees = 90.0}).image(0, 20), mean(image), 1e-6);
}

TEST(Degrade, CompressionCostsMoreAtLowerQuality) {
  Image<float> image = testing::random_image<float>(64, 64, 9);
  gaussian_blur(Context::cpu(1), image.host(), image.host(), 1.0);
  const Image<float> fine = degraded(image, {.jpeg_quality = 98}).image;
  const Image<float> coarse = degraded(image, {.jpeg_quality = 10}).image;
  ASSERT_EQ(fine.width(), 64);
  EXPECT_LT(largest_difference(fine, image), 0.03);
  EXPECT_GT(largest_difference(coarse, image), 0.05);
  EXPECT_LT(largest_difference(coarse, image), 0.6);
}

TEST(Degrade, WorksOnASinglePixel) {
  const Degraded result = degraded(constant(1, 1, 0.25f), {.rotate_degrees = 45.0, .scale = 0.1});
  EXPECT_EQ(result.image.width(), 1);
  EXPECT_NEAR(result.image(0, 0), 0.25f, 1e-5);
}

TEST(DegradedCamera, KeepsTheGeometryOfTransformedPoints) {
  const Camera a = look_at({-1.0, -8.0, 1.0}, {0.0, 0.0, 0.0}, 320, 240, 300.0);
  const Camera b = look_at({1.0, -7.0, 1.5}, {0.0, 0.2, 0.1}, 320, 240, 300.0, 0.05);
  const Degradation how{.rotate_degrees = -72.0, .scale = 1.37};
  const Camera moved = degraded_camera(b, how);
  EXPECT_EQ(moved.width, 438);
  EXPECT_EQ(moved.height, 329);
  EXPECT_NEAR(moved.K(0, 0), 1.37 * 300.0, 1e-9);
  EXPECT_NEAR(moved.R.determinant(), 1.0, 1e-12);
  const Eigen::Matrix3d M = degraded_from_original(320, 240, how), F = fundamental(a, moved);
  Random random(8);
  for (int i = 0; i < 100; ++i) {
    const Vector3d world(random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(-2, 2));
    const Vector2d in_b = transform(M, b.project(world));
    EXPECT_NEAR((moved.project(world) - in_b).norm(), 0.0, 1e-9);
    EXPECT_NEAR(in_b.homogeneous().dot(F * a.project(world).homogeneous()), 0.0, 1e-9);
  }
}

TEST(Degradation, RejectsInvalidOptions) {
  const Image<float> image = constant(8, 8, 0.5f);
  const auto refuses = [&](const Degradation& how) {
    try {
      degraded(image, how);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  const double nan = std::nan("");
  EXPECT_TRUE(refuses({.rotate_degrees = nan}));
  EXPECT_TRUE(refuses({.scale = 0.0}));
  EXPECT_TRUE(refuses({.scale = -1.0}));
  EXPECT_TRUE(refuses({.blur = -1.0}));
  EXPECT_TRUE(refuses({.contrast = nan}));
  EXPECT_TRUE(refuses({.brightness = nan}));
  EXPECT_TRUE(refuses({.noise = nan}));
  EXPECT_TRUE(refuses({.noise = -2.0}));
  EXPECT_TRUE(refuses({.jpeg_quality = 101}));
  EXPECT_THROW(degraded(Image<float>(0, 0), {}), Error);
  EXPECT_THROW(degraded(constant(8, 8, NAN), {}), Error);
  EXPECT_THROW(degraded_from_original(100000, 10, {.scale = 64.0}), Error);
}

}  // namespace
}  // namespace cornea
