// SPDX-License-Identifier: Apache-2.0
#include "study/evaluate/transforms.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "study/study.h"

#include "cornea/catalog/options_table.h"
#include "cornea/core/error.h"
#include "cornea/scene/resample.h"

namespace cornea::evaluate {
namespace {

Transform linear(const char* kind, std::string level, double a, double b, double c, double d) {
  return {kind, std::move(level), a, b, c, d, {}};
}

std::string number(double value) {
  return catalog::exact_text(std::round(value * 1000) / 1000);  // removes rounding errors of sums
}

Transform rotation(double degrees) {
  const double t = degrees * std::numbers::pi / 180;
  return linear("rotation", number(degrees), std::cos(t), -std::sin(t), std::sin(t), std::cos(t));
}
Transform stretch(double x, double y) {
  return linear("stretch", number(x) + "x" + number(y), x, 0, 0, y);
}
Transform harmed(const char* kind, double level, Degradation harm) {
  return {kind, number(level), 1, 0, 0, 1, harm};
}

// From first to last in steps, without the level that changes nothing.
std::vector<double> levels(double first, double last, double step, double nothing) {
  std::vector<double> list;
  for (int i = 0; first + i * step <= last + step / 2; ++i) {
    const double level = first + i * step;
    if (std::abs(level - nothing) > step / 2) list.push_back(level);
  }
  return list;
}

// The smaller singular value of the linear part.
double least_scale(const Transform& t) {
  const double sum = t.a * t.a + t.b * t.b + t.c * t.c + t.d * t.d, det = t.a * t.d - t.b * t.c;
  return std::sqrt((sum - std::sqrt(std::max(0.0, sum * sum - 4 * det * det))) / 2);
}

Image<std::uint8_t> mask_of(int width, int height, const Matrix& from_original, int original_width,
                            int original_height) {
  const Matrix back = inverse_of(from_original);
  Image<std::uint8_t> mask(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Point p = mapped(back, {double(x), double(y)});
      mask(x, y) = p.x >= kMargin && p.x <= original_width - 1 - kMargin && p.y >= kMargin &&
                           p.y <= original_height - 1 - kMargin
                       ? 255
                       : 0;
    }
  }
  return mask;
}

}  // namespace

const std::vector<std::string>& transform_kinds() {
  static const std::vector<std::string> kinds = {"rotation", "scale", "stretch", "shear",
                                                 "blur",     "jpeg",  "noise"};
  return kinds;
}

std::vector<Transform> transforms(bool fine) {
  using Levels = std::vector<double>;
  std::vector<Transform> list;
  for (double v : fine ? levels(-90, 90, 10, 0) : Levels{-60, -25, 10, 45}) {
    list.push_back(rotation(v));
  }
  for (double v : fine ? levels(0.5, 2, 0.1, 1) : Levels{0.5, 0.75, 1.4, 2}) {
    list.push_back(linear("scale", number(v), v, 0, 0, v));
  }
  for (double x : fine ? Levels{0.7, 0.9, 1.1, 1.3} : Levels{0.7, 1.3}) {
    for (double y : fine ? Levels{0.5, 0.8, 1.2, 1.5, 1.8} : Levels{1.0}) {
      list.push_back(stretch(x, y));
    }
  }
  for (double v : fine ? levels(-1, 1, 0.1, 0) : Levels{-0.6, -0.2, 0.4}) {
    list.push_back(linear("shear", number(v), 1, v, 0, 1));
  }
  for (double v : fine ? levels(0.5, 4, 0.5, 0) : Levels{1, 2, 3}) {
    list.push_back(harmed("blur", v, {.blur = v}));
  }
  for (double v : fine ? levels(5, 100, 5, 0) : Levels{10, 30, 70}) {
    list.push_back(harmed("jpeg", v, {.jpeg_quality = int(v)}));
  }
  for (double v : fine ? levels(1, 15, 1, 0) : Levels{5, 10, 15}) {
    list.push_back(harmed("noise", v, {.noise = v}));
  }
  return list;
}

Transformed transformed(const Context& context, HostView<const std::uint8_t> image,
                        const Transform& how) {
  Image<float> gray(image.width, image.height);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) gray(x, y) = float(image(x, y)) / 255.0f;
  }
  const bool moves = how.a != 1 || how.b != 0 || how.c != 0 || how.d != 1;
  if (!moves) {
    const Degraded harmed = degrade(context, gray.host(), how.harm);
    const Matrix same = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    return {cli::in_bytes(harmed.image.host()), same,
            mask_of(image.width, image.height, same, image.width, image.height)};
  }
  const double w = image.width, h = image.height;
  const int width = int(std::lround(std::abs(how.a) * w + std::abs(how.b) * h));
  const int height = int(std::lround(std::abs(how.c) * w + std::abs(how.d) * h));
  const double cx = (w - 1) / 2, cy = (h - 1) / 2;
  const Matrix M = {how.a, how.b, (width - 1) / 2.0 - how.a * cx - how.b * cy,
                    how.c, how.d, (height - 1) / 2.0 - how.c * cx - how.d * cy,
                    0,     0,     1};
  Eigen::Matrix3d matrix;
  matrix << M[0], M[1], M[2], M[3], M[4], M[5], M[6], M[7], M[8];
  const Image<float> moved =
      scene::resample(context, gray.host(), matrix, width, height, least_scale(how));
  return {cli::in_bytes(moved.host()), M, mask_of(width, height, M, image.width, image.height)};
}

Transformed untransformed(HostView<const std::uint8_t> image) {
  Image<std::uint8_t> copy(image.width, image.height);
  for (int y = 0; y < image.height; ++y) std::copy_n(image.row(y), image.width, copy.host().row(y));
  const Matrix same = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  return {std::move(copy), same,
          mask_of(image.width, image.height, same, image.width, image.height)};
}

}  // namespace cornea::evaluate
