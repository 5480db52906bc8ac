// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/bilateral/range_rows.h"

#include <algorithm>

#include "cornea/core/parallel.h"
#include "cornea/filter/bilateral/range_weight.h"
#include "cornea/filter/bilateral/weight_pack.h"

namespace cornea::bilateral {
namespace {

using namespace core;

constexpr int kRowsPerPiece = 64;

}  // namespace

PaddedImage::PaddedImage(int width, int height, int margin, int rows_beside)
    : width_(width),
      height_(height),
      margin_(margin),
      rows_beside_(rows_beside),
      stride_(std::ptrdiff_t(width) + 2 * margin + kSlack),
      data_(stride_ * (std::size_t(height) + 2 * rows_beside) + kSlack) {}

PaddedImage::PaddedImage(const Context& context, HostView<const float> image, int margin,
                         int rows_beside, float outside, float scale)
    : PaddedImage(image.width, image.height, margin, rows_beside) {
  if (outside != 0) fill_margin(outside);
  parallel_for(context, height_, kRowsPerPiece, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      for (int x = 0; x < width_; ++x) row(y)[x] = image(x, y) * scale;
    }
  });
}

void PaddedImage::fill_margin(float value) {
  float* const end = data_.data() + data_.size();
  std::fill(data_.data(), row(0), value);
  for (int y = 0; y < height_; ++y) {
    std::fill(row(y) + width_, y + 1 < height_ ? row(y + 1) : end, value);
  }
}

std::vector<float> window_exponents(double sigma, int radius, int reach) {
  const auto k = static_cast<float>(exponent_scale(sigma));
  std::vector<float> exponents;
  exponents.reserve((2 * std::size_t(radius) + 1) * (2 * std::size_t(reach) + 1));
  for (int n = -reach; n <= reach; ++n) {
    for (int m = -radius; m <= radius; ++m) {
      exponents.push_back(column_exponent(k, m) + row_exponent(k, n));
    }
  }
  return exponents;
}

}  // namespace cornea::bilateral
