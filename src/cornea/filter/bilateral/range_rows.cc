#include "cornea/filter/bilateral/range_rows.h"

#include <algorithm>
#include <cmath>

#include "cornea/core/parallel.h"
#include "cornea/core/simd.h"
#include "cornea/filter/bilateral/exp2_pack.h"
#include "cornea/filter/bilateral/range_weight.h"

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
                         float outside, float scale)
    : PaddedImage(image.width, image.height, margin) {
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

std::vector<float> window_exponents(double sigma, int radius) {
  const double k = exponent_scale(sigma);
  std::vector<float> exponents;
  exponents.reserve((2 * std::size_t(radius) + 1) * (2 * std::size_t(radius) + 1));
  for (int n = -radius; n <= radius; ++n) {
    for (int m = -radius; m <= radius; ++m) {
      exponents.push_back(static_cast<float>(-k * k * (double(m) * m + double(n) * n)));
    }
  }
  return exponents;
}

// A weight serves both ends of a pair of pixels: only the half of the window that follows a pixel
// in reading order is looked at. A pixel's own sums stay in registers, its partners' in memory; the
// window is walked down, column after column, so that what was written is not read again at once.
CORNEA_VECTOR_CLONES
void bilateral_pairs(const PaddedImage& image, int begin, int end, int radius,
                     const float* exponents, PaddedImage& sums, PaddedImage& weights) {
  const int side = 2 * radius + 1;
  for (int y = begin; y < end; ++y) {
    for (int x = 0; x < image.width(); x += kSlack) {
      Floats own[kAtOnce], sum[kAtOnce], weight[kAtOnce];
      for (int k = 0; k < kAtOnce; ++k) {
        own[k] = load_pack(image.row(y) + x + k * kWidth);
        sum[k] = weight[k] = Floats{};
      }
      for (int m = -radius; m <= radius; ++m) {
        const int first = m > 0 ? 0 : 1;
        const float* exponent = exponents + (radius + first) * side + radius + m;
        const float* other = image.row(y + first) + x + m;
        float* other_sum = sums.row(y + first - begin) + x + m;
        float* other_weight = weights.row(y + first - begin) + x + m;
        for (int n = first; n <= radius; ++n) {
          const Floats spatial = pack_of(*exponent);
          // Everything is read before anything is written: a processor that compares only the low
          // bits of addresses would wait.
          Floats d[kAtOnce], new_sum[kAtOnce], new_weight[kAtOnce];
#pragma GCC unroll 8
          for (int k = 0; k < kAtOnce; ++k) {
            d[k] = load_pack(other + k * kWidth) - own[k];
            new_sum[k] = load_pack(other_sum + k * kWidth);
            new_weight[k] = load_pack(other_weight + k * kWidth);
          }
#pragma GCC unroll 8
          for (int k = 0; k < kAtOnce; ++k) {
            const Floats w = exp2_pack(spatial - d[k] * d[k]);
            weight[k] += w;
            sum[k] += w * d[k];
            new_weight[k] += w;
            new_sum[k] -= w * d[k];
          }
#pragma GCC unroll 8
          for (int k = 0; k < kAtOnce; ++k) {
            store_pack(other_weight + k * kWidth, new_weight[k]);
            store_pack(other_sum + k * kWidth, new_sum[k]);
          }
          exponent += side;
          other += image.stride();
          other_sum += sums.stride();
          other_weight += weights.stride();
        }
      }
      for (int k = 0; k < kAtOnce; ++k) {
        float *my_sum = sums.row(y - begin) + x + k * kWidth,
              *my_weight = weights.row(y - begin) + x + k * kWidth;
        store_pack(my_sum, load_pack(my_sum) + sum[k]);
        store_pack(my_weight, load_pack(my_weight) + weight[k]);
      }
    }
  }
}

CORNEA_VECTOR_CLONES
void bilateral_row_of_two(const PaddedImage& image, const PaddedImage& first,
                          const PaddedImage& second, int y, int radius, const float* exponents,
                          float range, float* first_out, float* second_out) {
  const int width = image.width();
  for (int x = 0; x < width; x += kWidth) {
    const Floats own = load_pack(image.row(y) + x);
    Floats weights{}, first_sum{}, second_sum{};
    const float* exponent = exponents;
    for (int n = -radius; n <= radius; ++n) {
      for (int m = -radius; m <= radius; ++m, ++exponent) {
        // Outside the image, where the square would be infinite, it ends at the limit.
        const Floats far = (load_pack(image.row(y + n) + x + m) - own) * range,
                     limit = pack_of(1e9f);
        const Floats scaled = far < limit ? far : limit;
        const Floats w = exp2_pack(pack_of(*exponent) - scaled * scaled);
        weights += w;
        first_sum += w * load_pack(first.row(y + n) + x + m);
        second_sum += w * load_pack(second.row(y + n) + x + m);
      }
    }
    float results[2][kWidth];
    store_pack(results[0], first_sum / weights);
    store_pack(results[1], second_sum / weights);
    const int count = std::min(kWidth, width - x);
    std::copy_n(results[0], count, first_out + x);
    std::copy_n(results[1], count, second_out + x);
  }
}

}  // namespace cornea::bilateral
