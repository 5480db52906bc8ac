// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/degrade.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/LU>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/core/pixels.h"
#include "cornea/core/random.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/io/image_file.h"
#include "cornea/scene/resample.h"

namespace cornea {
namespace {

using namespace core;
using gaussian::gaussian_blur;

constexpr int kRows = 16;             // rows per piece of parallel work
constexpr double kLargestSide = 1e6;  // pixels
constexpr double kGrayLevel = 1.0 / 255.0;

int scaled(int size, double scale) {
  return std::max(1, static_cast<int>(std::lround(scale * size)));
}

bool moves(const Degradation& how) { return how.rotate_degrees != 0.0 || how.scale != 1.0; }

// Cosine and sine, exact for multiples of 90 degrees.
Eigen::Vector2d direction(double degrees) {
  const double turn = std::remainder(degrees, 360.0), quarters = turn / 90.0;
  if (quarters == std::round(quarters)) {
    const int quarter = static_cast<int>(quarters) & 3;
    return {quarter == 0   ? 1.0
            : quarter == 2 ? -1.0
                           : 0.0,
            quarter == 1   ? 1.0
            : quarter == 3 ? -1.0
                           : 0.0};
  }
  const double angle = turn * std::numbers::pi / 180.0;
  return {std::cos(angle), std::sin(angle)};
}

Image<float> copy_of(HostView<const float> image) {
  Image<float> copy(image.width, image.height);
  for (int y = 0; y < image.height; ++y) {
    std::copy_n(image.row(y), image.width, copy.host().row(y));
  }
  return copy;
}

// A normal deviate per pixel (Box-Muller).
double pixel_noise(std::uint64_t seed, int x, int y) {
  const Philox4 hash = philox(seed, static_cast<std::uint64_t>(y), static_cast<std::uint64_t>(x));
  const double u = 1.0 - unit_double(hash.v[0], hash.v[1]), v = unit_double(hash.v[2], hash.v[3]);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

void change_tones(const Context& context, HostView<float> image, const Degradation& how) {
  parallel_for(context, image.height, kRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      for (int x = 0; x < image.width; ++x) {
        double value = (image(x, y) - 0.5) * how.contrast + 0.5 + how.brightness * kGrayLevel;
        if (how.noise > 0.0) value += how.noise * kGrayLevel * pixel_noise(how.seed, x, y);
        image(x, y) = static_cast<float>(std::clamp(value, 0.0, 1.0));
      }
    }
  });
}

Image<float> through_jpeg(const Image<float>& image, int quality) {
  Image<std::uint8_t> bytes(image.width(), image.height());
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      bytes(x, y) = static_cast<std::uint8_t>(image(x, y) * 255.0f + 0.5f);
    }
  }
  return decode_image<float>(encode_jpeg(bytes, quality), "degraded image");
}

}  // namespace

void Degradation::validate() const {
  require(std::isfinite(rotate_degrees), "rotate_degrees is ", rotate_degrees,
          " and must be a finite number");
  require(scale >= 1.0 / 64.0 && scale <= 64.0, "scale is ", scale, " and must be 1/64 to 64");
  require(blur >= 0.0 && blur <= 1000.0, "blur is ", blur, " and must be 0 to 1000 pixels");
  require(contrast >= 0.0 && std::isfinite(contrast), "contrast is ", contrast,
          " and must be 0 or more");
  require(std::isfinite(brightness), "brightness is ", brightness,
          " and must be a finite number of gray levels");
  require(noise >= 0.0 && std::isfinite(noise), "noise is ", noise,
          " and must be 0 gray levels or more");
  require(jpeg_quality >= 0 && jpeg_quality <= 100, "jpeg_quality is ", jpeg_quality,
          " and must be 1 to 100, or 0 for no compression");
}

Eigen::Matrix3d degraded_from_original(int width, int height, const Degradation& how) {
  how.validate();
  require(width > 0 && height > 0, "an image of ", width, " x ", height,
          " pixels cannot be degraded");
  require(how.scale * std::max(width, height) <= kLargestSide, "at scale ", how.scale,
          " an image of ", width, " x ", height, " pixels grows beyond ", kLargestSide,
          " pixels per side");
  // x' = c' + scale R (x - c), with the centres c and c' of the two canvases.
  const Eigen::Vector2d centre((width - 1) / 2.0, (height - 1) / 2.0);
  const Eigen::Vector2d moved((scaled(width, how.scale) - 1) / 2.0,
                              (scaled(height, how.scale) - 1) / 2.0);
  const Eigen::Vector2d turn = how.scale * direction(how.rotate_degrees);
  Eigen::Matrix2d A;
  A << turn.x(), -turn.y(), turn.y(), turn.x();
  Eigen::Matrix3d M = Eigen::Matrix3d::Identity();
  M.topLeftCorner<2, 2>() = A;
  M.topRightCorner<2, 1>() = moved - A * centre;
  return M;
}

Degraded degrade(const Context& context, HostView<const float> image, const Degradation& how) {
  const Eigen::Matrix3d M = degraded_from_original(image.width, image.height, how);
  require(worst_value(context, image, float_limits(Working::levels)) == 0,
          "the image to degrade holds values that are not finite");
  Image<float> result = moves(how)
                            ? scene::resample(context, image, M, scaled(image.width, how.scale),
                                              scaled(image.height, how.scale), how.scale)
                            : copy_of(image);
  gaussian_blur(context, result.host(), result.host(), how.blur);
  change_tones(context, result.host(), how);
  if (how.jpeg_quality > 0) result = through_jpeg(result, how.jpeg_quality);
  return {std::move(result), M};
}

Camera degraded_camera(const Camera& camera, const Degradation& how) {
  const Eigen::Matrix3d M = degraded_from_original(camera.width, camera.height, how);
  return moved_camera(camera, M, scaled(camera.width, how.scale), scaled(camera.height, how.scale));
}

}  // namespace cornea
