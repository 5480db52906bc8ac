// SPDX-License-Identifier: Apache-2.0
// The sums of range-weighted windows on the CPU.
#pragma once

#include <cstddef>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/isa.h"

namespace cornea::bilateral {

// A copy of an image with `margin` more pixels on every side and slack for vector loads past the
// end of each row.
class PaddedImage {
 public:
  PaddedImage(int width, int height, int margin) : PaddedImage(width, height, margin, margin) {}
  // With a different number of extra rows above and below.
  PaddedImage(int width, int height, int margin, int rows_beside);
  PaddedImage(const Context& context, HostView<const float> image, int margin, int rows_beside,
              float outside, float scale);

  void fill_margin(float value);

  float* row(int y) { return data_.data() + (y + rows_beside_) * stride_ + margin_; }
  const float* row(int y) const { return data_.data() + (y + rows_beside_) * stride_ + margin_; }
  int width() const { return width_; }
  int height() const { return height_; }
  std::ptrdiff_t stride() const { return stride_; }

 private:
  int width_, height_, margin_, rows_beside_;
  std::ptrdiff_t stride_;
  std::vector<float> data_;
};

// The spatial part of E for each position of a window, row by row: 1 - (k m)^2 - (k n)^2. The
// window has `radius` columns on each side, and `reach` rows above and below.
std::vector<float> window_exponents(double sigma, int radius, int reach);

// Adds the mutual contributions of pairs of pixels whose first pixel lies in the rows [begin, end):
// D w to `sums` and w to `weights`. Row 0 of both stands for row `begin`; the second pixel of a
// pair may lie up to `reach` rows below, and `radius` columns beside. The image, and so D, is
// multiplied by the exponent's scale k_r; its margin is filled with kOutside.
CORNEA_PER_ISA(void, bilateral_pairs,
               (const PaddedImage& image, int begin, int end, int radius, int reach,
                const float* exponents, PaddedImage& sums, PaddedImage& weights),
               (image, begin, end, radius, reach, exponents, sums, weights))

// Row y of the weighted means of two images. The weights are those of a bilateral filter of a third
// image, whose margin is filled with kOutside; the margins of the two are zero.
CORNEA_PER_ISA(void, bilateral_row_of_two,
               (const PaddedImage& image, const PaddedImage& first, const PaddedImage& second,
                int y, int radius, const float* exponents, float range, float* first_out,
                float* second_out),
               (image, first, second, y, radius, exponents, range, first_out, second_out))

}  // namespace cornea::bilateral
