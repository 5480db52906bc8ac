// The sums of range-weighted windows on the CPU.
#pragma once

#include <cstddef>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/isa.h"

namespace cornea::bilateral {

// A copy of an image with `margin` more pixels on every side and room to read on after each row.
class PaddedImage {
 public:
  PaddedImage(int width, int height, int margin) : PaddedImage(width, height, margin, margin) {}
  // With another number of rows above and below.
  PaddedImage(int width, int height, int margin, int rows_beside);
  PaddedImage(const Context& context, HostView<const float> image, int margin, float outside,
              float scale = 1);

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

// The places' parts of E in a square window, row by row: 1 - (k m)^2 - (k n)^2.
std::vector<float> window_exponents(double sigma, int radius);

// Adds what pairs of pixels give each other, with the first of a pair in the rows [begin, end): to
// `sums` D w and to `weights` w, whose row 0 stands for row `begin`; the second of a pair may lie
// `radius` rows below. The image is multiplied by the exponent's scale of
// differences, and so is D; its margin is kOutside.
CORNEA_PER_ISA(void, bilateral_pairs,
               (const PaddedImage& image, int begin, int end, int radius, const float* exponents,
                PaddedImage& sums, PaddedImage& weights),
               (image, begin, end, radius, exponents, sums, weights))

// Row y of the mean of two images, with the weights of a bilateral filter of a third, whose margin
// is kOutside; the margins of the two are zero.
CORNEA_PER_ISA(void, bilateral_row_of_two,
               (const PaddedImage& image, const PaddedImage& first, const PaddedImage& second,
                int y, int radius, const float* exponents, float range, float* first_out,
                float* second_out),
               (image, first, second, y, radius, exponents, range, first_out, second_out))

}  // namespace cornea::bilateral
