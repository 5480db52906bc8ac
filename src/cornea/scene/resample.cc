// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/resample.h"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

#include "cornea/core/parallel.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/scene/camera.h"

namespace cornea::scene {
namespace {

constexpr int kRows = 16;  // rows per piece of parallel work

// Weights of the four neighbours -1, 0, 1, 2 at the fraction f past neighbour 0.
void catmull_rom(double f, double (&weight)[4]) {
  weight[0] = 0.5 * f * ((2.0 - f) * f - 1.0);
  weight[1] = 0.5 * (f * f * (3.0 * f - 5.0) + 2.0);
  weight[2] = 0.5 * f * ((4.0 - 3.0 * f) * f + 1.0);
  weight[3] = 0.5 * f * f * (f - 1.0);
}

double bicubic(HostView<const float> image, double x, double y) {
  const int left = static_cast<int>(std::floor(x)), top = static_cast<int>(std::floor(y));
  double across[4], along[4], sum = 0.0;
  catmull_rom(x - left, across);
  catmull_rom(y - top, along);
  for (int j = 0; j < 4; ++j) {
    const float* row = image.row(std::clamp(top + j - 1, 0, image.height - 1));
    double in_row = 0.0;
    for (int i = 0; i < 4; ++i) {
      in_row += across[i] * row[std::clamp(left + i - 1, 0, image.width - 1)];
    }
    sum += along[j] * in_row;
  }
  return sum;
}

double mean_gray(HostView<const float> image) {
  double sum = 0.0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) sum += image(x, y);
  }
  return sum / (double(image.width) * image.height);
}

}  // namespace

Image<float> resample(const Context& context, HostView<const float> image, const Eigen::Matrix3d& M,
                      int width, int height, double least_scale) {
  const double outside = mean_gray(image);
  Image<float> smooth(image.width, image.height);
  if (least_scale < 1.0) {
    const double before = 0.5, after = 0.5 / least_scale;
    gaussian::gaussian_blur(context, image, smooth.host(),
                            std::sqrt(after * after - before * before));
  }
  Image<float> moved(width, height);
  const Eigen::Matrix3d back = M.inverse();
  const HostView<const float> from = least_scale < 1.0 ? std::as_const(smooth).host() : image;
  const HostView<float> out = moved.host();
  core::parallel_for(context, out.height, kRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      for (int x = 0; x < out.width; ++x) {
        const Eigen::Vector2d p = transform(back, Eigen::Vector2d(x, y));
        const bool inside = p.x() >= -0.5 && p.x() <= from.width - 0.5 && p.y() >= -0.5 &&
                            p.y() <= from.height - 0.5;
        out(x, y) = static_cast<float>(inside ? bicubic(from, p.x(), p.y()) : outside);
      }
    }
  });
  return moved;
}

}  // namespace cornea::scene
