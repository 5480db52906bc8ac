#include "cornea/filter/bilateral/range_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cornea/core/parallel.h"
#include "cornea/core/simd.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea {
namespace {

using Floats = Pack<float>;
using Ints = Pack<std::int32_t>;
constexpr int kWidth = kLanes<float>;
constexpr int kAtOnce = 4;                // packs of a row, for work while one waits
constexpr int kSlack = kAtOnce * kWidth;  // that may be read beyond a row
constexpr int kRowsPerPiece = 64;

// 2^e for e <= 0, to 2e-7 of itself; below -126 it stays at 2^-126. The whole part goes to the
// exponent, 2^f for |f| <= 1/2 is a polynomial.
inline Floats exp2_pack(Floats e) {
  const Floats least = pack_of(-126.0f);
  e = e > least ? e : least;
  constexpr float kRound = 12582912.0f;  // 1.5 2^23: sums with it have no fraction
  const Floats shifted = e + kRound;
  const Floats f = e - (shifted - kRound);
  Floats p = pack_of(1.33953077e-3f);
  p = p * f + 9.61825389e-3f;
  p = p * f + 5.55032913e-2f;
  p = p * f + 2.40226479e-1f;
  p = p * f + 6.93147187e-1f;
  p = p * f + 1.0f;
  Ints bits, whole;
  std::memcpy(&bits, &p, sizeof bits);
  std::memcpy(&whole, &shifted, sizeof whole);
  bits += whole << 23;
  std::memcpy(&p, &bits, sizeof p);
  return p;
}

inline float sum_of(Floats v) {
  float sum = 0;
  for (int i = 0; i < kWidth; ++i) sum += v[i];
  return sum;
}

// `two`: the mean of two other images. Else that of the differences, added to the pixel.
template <bool two>
inline void row_of_windows(const PaddedImage& image, const PaddedImage* first,
                           const PaddedImage* second, int y, int radius, const float* exponents,
                           float range, float* first_out, float* second_out) {
  const int width = image.width();
  for (int x = 0; x < width; x += kSlack) {
    Floats own[kAtOnce], weights[kAtOnce], sums[kAtOnce], second_sums[kAtOnce];
    for (int k = 0; k < kAtOnce; ++k) {
      own[k] = load_pack(image.row(y) + x + k * kWidth);
      weights[k] = sums[k] = second_sums[k] = Floats{};
    }
    const float* exponent = exponents;
    for (int n = -radius; n <= radius; ++n) {
      const float* row = image.row(y + n) + x;
      for (int m = -radius; m <= radius; ++m, ++exponent) {
        const Floats spatial = pack_of(*exponent);
#pragma GCC unroll 4
        for (int k = 0; k < kAtOnce; ++k) {
          const Floats d = load_pack(row + m + k * kWidth) - own[k];
          const Floats scaled = d * range;
          const Floats w = exp2_pack(spatial - scaled * scaled);
          weights[k] += w;
          if constexpr (two) {
            const std::ptrdiff_t at = x + m + k * kWidth;
            sums[k] += w * load_pack(first->row(y + n) + at);
            second_sums[k] += w * load_pack(second->row(y + n) + at);
          } else {
            sums[k] += w * d;
          }
        }
      }
    }
    float results[2][kSlack];
    for (int k = 0; k < kAtOnce; ++k) {
      const Floats mean = sums[k] / weights[k];
      store_pack(results[0] + k * kWidth, two ? mean : own[k] + mean);
      if (two) store_pack(results[1] + k * kWidth, second_sums[k] / weights[k]);
    }
    const int count = std::min(kSlack, width - x);
    std::copy_n(results[0], count, first_out + x);
    if (two) std::copy_n(results[1], count, second_out + x);
  }
}

}  // namespace

PaddedImage::PaddedImage(int width, int height, int margin)
    : width_(width),
      height_(height),
      margin_(margin),
      stride_(std::ptrdiff_t(width) + 2 * margin + kSlack),
      data_(stride_ * (std::size_t(height) + 2 * margin) + kSlack) {}

PaddedImage::PaddedImage(const Context& context, HostView<const float> image, int margin,
                         float outside)
    : PaddedImage(image.width, image.height, margin) {
  if (outside != 0) std::fill(data_.begin(), data_.end(), outside);
  parallel_for(context, height_, kRowsPerPiece, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) std::copy_n(image.row(y), width_, row(y));
  });
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

CORNEA_VECTOR_CLONES
void bilateral_row(const PaddedImage& image, int y, int radius, const float* exponents, float range,
                   float* out) {
  row_of_windows<false>(image, nullptr, nullptr, y, radius, exponents, range, out, nullptr);
}

CORNEA_VECTOR_CLONES
void bilateral_row_of_two(const PaddedImage& image, const PaddedImage& first,
                          const PaddedImage& second, int y, int radius, const float* exponents,
                          float range, float* first_out, float* second_out) {
  row_of_windows<true>(image, &first, &second, y, radius, exponents, range, first_out, second_out);
}

CORNEA_VECTOR_CLONES
float mean_above_plane(const PaddedImage& image, const PlaneWindow& window, int x, int y, int half,
                       float a, float b) {
  Floats lanes;
  Ints index;
  for (int i = 0; i < kWidth; ++i) lanes[i] = float(i), index[i] = i;
  const float own = image.row(y)[x], k = window.spatial;
  const Floats slope = pack_of(a), range = pack_of(window.range);
  Floats weights{}, sums{};
  const int top = std::max(-half, -y), bottom = std::min(half, image.height() - 1 - y);
  for (int n = top; n <= bottom; ++n) {
    const int reach = std::min(half, window.reach[std::abs(n)]);
    const int left = std::max(-reach, -x),
              count = std::min(reach, image.width() - 1 - x) - left + 1;
    const float* row = image.row(y + n) + x + left;
    const float base = -(own + b * n);
    const Floats row_exponent = pack_of(-(k * n) * (k * n));
    Floats m = lanes + float(left);
    for (int i = 0; i < count; i += kWidth, m += float(kWidth)) {
      const Floats d = (load_pack(row + i) + base) - slope * m;
      const Floats u = m * k, scaled = d * range;
      Floats e = row_exponent - u * u - scaled * scaled;
      if (i + kWidth > count) e = index < count - i ? e : pack_of(-1000.0f);
      const Floats w = exp2_pack(e);
      weights += w;
      sums += w * d;
    }
  }
  return sum_of(sums) / sum_of(weights);
}

}  // namespace cornea
