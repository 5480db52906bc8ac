// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/harris/harris.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cornea/core/build.h"
#include "cornea/core/parallel.h"
#include "cornea/core/pixels.h"
#include "cornea/core/simd.h"
#include "cornea/detect/harris/device_harris.h"
#include "cornea/detect/harris/harris_math.h"
#include "cornea/detect/response.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/filter/gaussian/reflect.h"

namespace cornea {
namespace {

using namespace core;
using namespace gaussian;
using namespace peaks;
using namespace detect;
using namespace harris;

constexpr int kRowsPerPiece = 64;

// The pixel value used by the derivatives: 8-bit pixels stay integers, which vectorise better.
CORNEA_INTO_CLONES int derivative_pixel(std::uint8_t v) { return v; }
CORNEA_INTO_CLONES float derivative_pixel(std::uint16_t v) { return gray_level(v); }
CORNEA_INTO_CLONES float derivative_pixel(float v) { return gray_level(v); }

// The three products of derivatives along one row, or their window sums.
struct TensorRow {
  float *xx, *xy, *yy;
};

template <class T>
CORNEA_INTO_CLONES void derivative_products(const T* __restrict above, const T* __restrict row,
                                            const T* __restrict below, int begin, int end,
                                            int left_step, int right_step, const TensorRow& out) {
  float* __restrict xx = out.xx, * __restrict xy = out.xy, * __restrict yy = out.yy;
  for (int x = begin; x < end; ++x) {
    const int l = x - left_step, r = x + right_step;
    const auto a0 = derivative_pixel(above[l]), a1 = derivative_pixel(above[x]),
               a2 = derivative_pixel(above[r]), m0 = derivative_pixel(row[l]),
               m2 = derivative_pixel(row[r]), b0 = derivative_pixel(below[l]),
               b1 = derivative_pixel(below[x]), b2 = derivative_pixel(below[r]);
    const float gx = static_cast<float>(sobel_x(a0, a2, m0, m2, b0, b2));
    const float gy = static_cast<float>(sobel_y(a0, a1, a2, b0, b1, b2));
    xx[x] = gx * gx;
    xy[x] = gx * gy;
    yy[x] = gy * gy;
  }
}

// The products of a whole row, mirrored at both ends.
template <class T>
CORNEA_INTO_CLONES void product_row(HostView<const T> image, int y, const TensorRow& out) {
  const int w = image.width, last = w - 1;
  const T* above = image.row(reflect101(y - 1, image.height));
  const T* row = image.row(y);
  const T* below = image.row(reflect101(y + 1, image.height));
  if (w == 1) return derivative_products(above, row, below, 0, 1, 0, 0, out);
  derivative_products(above, row, below, 0, 1, -1, 1, out);
  derivative_products(above, row, below, 1, last, 1, 1, out);
  derivative_products(above, row, below, last, w, 1, -1, out);
}

// sums[x] = weight[0] row[x - radius] + weight[1] row[x - radius + 1] + ..., added in that order.
CORNEA_INTO_CLONES void sum_along_row(const float* __restrict row, const HarrisFormula& f,
                                      float* __restrict sums, int width) {
  const int r = f.radius;
  if (f.box && r == 1) {
    for (int x = 0; x < width; ++x) sums[x] = row[x - 1] + row[x] + row[x + 1];
    return;
  }
  for (int x = 0; x < width; ++x) sums[x] = f.weight[0] * row[x - r];
  for (int i = 1; i <= 2 * r; ++i) {
    const float weight = f.weight[i];
    for (int x = 0; x < width; ++x) sums[x] += weight * row[x - r + i];
  }
}

// sums[x] = weight[0] rows[0][x] + weight[1] rows[1][x] + ..., added in that order.
CORNEA_INTO_CLONES void sum_rows(const float* const* rows, const HarrisFormula& f,
                                 float* __restrict sums, int width) {
  if (f.box && f.radius == 1) {
    const float* __restrict a = rows[0], * __restrict b = rows[1], * __restrict c = rows[2];
    for (int x = 0; x < width; ++x) sums[x] = a[x] + b[x] + c[x];
    return;
  }
  for (int x = 0; x < width; ++x) sums[x] = f.weight[0] * rows[0][x];
  for (int i = 1; i <= 2 * f.radius; ++i) {
    const float* __restrict row = rows[i];
    const float weight = f.weight[i];
    for (int x = 0; x < width; ++x) sums[x] += weight * row[x];
  }
}

CORNEA_INTO_CLONES void measure_row(const TensorRow& m, const HarrisFormula& f,
                                    float* __restrict out, int width) {
  const float* __restrict xx = m.xx, * __restrict xy = m.xy, * __restrict yy = m.yy;
  const float k = f.k, scale = f.scale;
  if (f.measure == CornerMeasure::harris) {
    for (int x = 0; x < width; ++x) out[x] = harris_response(xx[x], xy[x], yy[x], k, scale);
  } else {
    for (int x = 0; x < width; ++x) out[x] = shi_tomasi_response(xx[x], xy[x], yy[x], scale);
  }
}

// The rows that a band keeps: products with room for the mirrored border, and the last
// window_ rows of sums.
class BandRows {
 public:
  BandRows(int width, int radius)
      : width_(width), radius_(radius), window_(2 * radius + 1), padded_(width + 2 * radius) {
    products_.resize(3 * std::size_t(padded_));
    ring_.resize(3 * std::size_t(window_) * width_);
    totals_.resize(3 * std::size_t(width_));
  }

  TensorRow products() {
    float* first = products_.data() + radius_;
    return {first, first + padded_, first + 2 * padded_};
  }
  void mirror_ends(float* row) const {
    for (int i = 1; i <= radius_; ++i) {
      row[-i] = row[reflect101(-i, width_)];
      row[width_ - 1 + i] = row[reflect101(width_ - 1 + i, width_)];
    }
  }
  // The window sums along row y; y is relative to the band's first row and may be negative.
  TensorRow ring(int y) {
    float* first = ring_.data() + std::size_t((y + window_) % window_) * width_;
    const std::size_t plane = std::size_t(window_) * width_;
    return {first, first + plane, first + 2 * plane};
  }
  TensorRow totals() {
    return {totals_.data(), totals_.data() + width_, totals_.data() + 2 * width_};
  }

 private:
  int width_, radius_, window_, padded_;
  std::vector<float> products_, ring_, totals_;
};

template <class T>
CORNEA_INTO_CLONES void respond_band(HostView<const T> image, const HarrisFormula& f, int begin,
                                     int end, HostView<float> map) {
  const int w = image.width, r = f.radius;
  BandRows rows(w, r);
  const float* xx[2 * kLargestHarrisRadius + 1];
  const float* xy[2 * kLargestHarrisRadius + 1];
  const float* yy[2 * kLargestHarrisRadius + 1];
  for (int y = begin - r; y < end + r; ++y) {
    const TensorRow products = rows.products();
    product_row(image, reflect101(y, image.height), products);
    const TensorRow sums = rows.ring(y - begin);
    for (auto [from, to] : {std::pair(products.xx, sums.xx), std::pair(products.xy, sums.xy),
                            std::pair(products.yy, sums.yy)}) {
      rows.mirror_ends(from);
      sum_along_row(from, f, to, w);
    }
    const int centre = y - r;
    if (centre < begin) continue;
    for (int i = 0; i <= 2 * r; ++i) {
      const TensorRow row = rows.ring(centre - r + i - begin);
      xx[i] = row.xx;
      xy[i] = row.xy;
      yy[i] = row.yy;
    }
    const TensorRow totals = rows.totals();
    sum_rows(xx, f, totals.xx, w);
    sum_rows(xy, f, totals.xy, w);
    sum_rows(yy, f, totals.yy, w);
    measure_row(totals, f, map.row(centre), w);
  }
}

CORNEA_LOOP_CLONES void respond_rows(HostView<const std::uint8_t> image, const HarrisFormula& f,
                                     int begin, int end, HostView<float> map) {
  respond_band(image, f, begin, end, map);
}
CORNEA_LOOP_CLONES void respond_rows(HostView<const std::uint16_t> image, const HarrisFormula& f,
                                     int begin, int end, HostView<float> map) {
  respond_band(image, f, begin, end, map);
}
CORNEA_LOOP_CLONES void respond_rows(HostView<const float> image, const HarrisFormula& f, int begin,
                                     int end, HostView<float> map) {
  respond_band(image, f, begin, end, map);
}

HarrisFormula make_formula(const HarrisOptions& options) {
  options.validate();
  HarrisFormula f;
  f.measure = options.measure;
  f.radius = options.window / 2;
  f.box = options.shape == WindowShape::box;
  f.k = static_cast<float>(options.k);
  double derivative_unit = 4 * 255;  // Sobel's sum of weights times white
  if (f.box) {
    std::fill_n(f.weight, options.window, 1.0f);
    derivative_unit *= options.window;  // the mean of w x w products
  } else {
    const std::vector<float> weights = gaussian_kernel(options.sigma, f.radius);
    std::copy(weights.begin(), weights.end(), f.weight);
  }
  const double tensor_unit = derivative_unit * derivative_unit;
  f.scale = static_cast<float>(
      1 / (f.measure == CornerMeasure::harris ? tensor_unit * tensor_unit : tensor_unit));
  return f;
}

class HarrisResponse : public Response {
 public:
  HarrisResponse(const Context& context, const HarrisOptions& options)
      : Response(context), formula_(make_formula(options)) {}

  Pixel map_pixel(Pixel) const override { return Pixel::f32; }
  double unit(Pixel) const override { return 1; }
  Margin margin() const override { return formula_.radius + 1; }

  void respond(const ResponseCall& call) override {
    with_gray(call.first.pixel(), [&](auto pixel) { respond<decltype(pixel)>(call); });
  }

 private:
  template <class T>
  void respond(const ResponseCall& call) {
    if constexpr (kHasCuda) {
      if (context().is_cuda()) {
        return enqueue_harris_response(context(), call.first.device<T>(), call.frames, formula_,
                                       call.first_map.device<float>(),
                                       static_cast<OrderedBits<float>*>(call.strongest));
      }
    }
    const auto image = call.first.host<T>();
    parallel_for(context(), image.height, kRowsPerPiece, [&](int begin, int end) {
      respond_rows(image, formula_, begin, end, call.first_map.host<float>());
    });
  }

  HarrisFormula formula_;
};

}  // namespace

void HarrisOptions::validate() const {
  require(window >= 3 && window <= 2 * kLargestHarrisRadius + 1 && window % 2 == 1, "window is ",
          window, " and must be odd and from 3 to ", 2 * kLargestHarrisRadius + 1, " pixels");
  require(k >= 0 && k < 0.25, "k is ", k, " and must be 0 or more and less than 0.25");
  require(shape == WindowShape::box || (sigma > 0 && sigma <= gaussian::kLargestSigma),
          "sigma of the window is ", sigma, " and must be above 0 and at most ",
          gaussian::kLargestSigma, " pixels");
  peaks.validate();
}

Harris::Harris(const Context& context, const HarrisOptions& options)
    : CornerDetector(std::make_unique<HarrisResponse>(context, options), options.peaks) {}

}  // namespace cornea
