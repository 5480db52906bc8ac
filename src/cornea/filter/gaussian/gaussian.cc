#include "cornea/filter/gaussian/gaussian.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/core/simd.h"
#include "cornea/filter/gaussian/reflect.h"

namespace cornea {
namespace {

constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }

constexpr double kLargestSigma = 10000.0;  // pixels; its radius still fits an int many times over

void check_sigma(double sigma) {
  require(sigma >= 0.0 && sigma <= kLargestSigma, "a Gaussian's sigma lies in 0..", kLargestSigma,
          " pixels, not ", sigma);
}

// out[x] = sum_k weight[k] tap[k][x], k = 0 .. taps - 1, always added in that order and every
// product fused with the sum before it, the first with 0 (see CMakeLists.txt). Both passes are this
// sum: over shifted copies of a row, or over rows.
CORNEA_VECTOR_CLONES
void weighted_sum(const float* weight, int taps, const float* const* tap, int width, float* out) {
  // Sums that stay in registers through all taps.
  constexpr int kAtOnce = 8, kWidth = kLanes<float>;
  int x = 0;
  for (; x + kAtOnce * kWidth <= width; x += kAtOnce * kWidth) {
    Pack<float> sum[kAtOnce] = {};
    for (int k = 0; k < taps; ++k) {
      const float* from = tap[k] + x;
      const Pack<float> w = pack_of(weight[k]);
#pragma GCC unroll 8
      for (int i = 0; i < kAtOnce; ++i) sum[i] += w * load_pack(from + i * kWidth);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kAtOnce; ++i) store_pack(out + x + i * kWidth, sum[i]);
  }
  for (; x < width; ++x) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += weight[k] * tap[k][x];
    out[x] = sum;
  }
}

// One band of rows, or a strip of columns of it: a ring of rows blurred along x, from which the
// rows blurred along y are made.
class Band {
 public:
  Band(const float* kernel, int radius, int width, int height, int most_columns)
      : weight_(kernel),
        radius_(radius),
        width_(width),
        height_(height),
        columns_(most_columns),
        padded_(std::size_t(most_columns) + 2 * std::size_t(radius)),
        slots_(std::min(2 * radius + 1, height)),
        ring_(std::size_t(slots_) * most_columns),
        taps_(2 * std::size_t(radius) + 1) {}

  // Writes the rows [begin, end) of the columns [left, right) of out. A row of the input is read
  // once, before the output row of the same index is written, so that input and output may be the
  // same memory if the columns are all.
  void run(int begin, int end, int left, int right, const std::function<const float*(int)>& input,
           HostView<float> out) {
    left_ = left, right_ = right;
    int next = std::max(0, begin - radius_);
    for (int y = begin; y < end; ++y) {
      for (; next <= std::min(height_ - 1, y + radius_); ++next)
        blur_along_x(input(next), slot(next));
      for (int k = -radius_; k <= radius_; ++k) {
        taps_[k + radius_] = slot(reflect101(y + k, height_));
      }
      weighted_sum(weight_, 2 * radius_ + 1, taps_.data(), right_ - left_, out.row(y) + left_);
    }
  }

 private:
  // Every mirrored row of y - r .. y + r lies in that range itself, so 2r + 1 slots do.
  float* slot(int row) { return ring_.data() + std::size_t(row % slots_) * columns_; }

  void blur_along_x(const float* row, float* blurred) {
    const float* middle = row + left_;
    if (left_ < radius_ || right_ + radius_ > width_) {
      // Column x lies at padded[x].
      float* const padded = padded_.data() + radius_ - left_;
      const int first = std::max(left_ - radius_, 0), last = std::min(right_ + radius_, width_);
      for (int x = left_ - radius_; x < first; ++x) padded[x] = row[reflect101(x, width_)];
      std::copy(row + first, row + last, padded + first);
      for (int x = last; x < right_ + radius_; ++x) padded[x] = row[reflect101(x, width_)];
      middle = padded + left_;
    }
    for (int k = -radius_; k <= radius_; ++k) taps_[k + radius_] = middle + k;
    weighted_sum(weight_, 2 * radius_ + 1, taps_.data(), right_ - left_, blurred);
  }

  const float* weight_;
  int radius_, width_, height_, columns_;
  int left_ = 0, right_ = 0;
  std::vector<float> padded_;
  int slots_;  // rows that the ring keeps
  std::vector<float> ring_;
  std::vector<const float*> taps_;
};

// Copies of the rows that a band reads and its neighbours overwrite, for blurring in place.
class SavedRows {
 public:
  SavedRows(const Context& context, HostView<const float> image, int band, int radius)
      : image_(image), band_(band), radius_(radius) {
    const int edges = (image.height - 1) / band;  // between bands
    rows_.resize(std::size_t(edges) * 2 * radius * image.width);
    parallel_for(context, edges, 1, [&](int begin, int end) {
      for (int edge = begin; edge < end; ++edge) save(edge);
    });
  }

  // Row y as it was, for the band that starts at row `begin`.
  const float* row(int y, int begin) const {
    const int band = begin / band_;
    if (y / band_ == band) return image_.row(y);
    return saved(y < begin ? band - 1 : band, y);
  }

 private:
  // Edge e lies between the rows (e + 1) band - 1 and (e + 1) band; `radius` rows either side.
  int first_row(int edge) const { return (edge + 1) * band_ - radius_; }
  const float* saved(int edge, int y) const {
    return rows_.data() + (std::size_t(edge) * 2 * radius_ + (y - first_row(edge))) * image_.width;
  }
  void save(int edge) {
    const int first = first_row(edge), last = std::min(image_.height, first + 2 * radius_);
    for (int y = first; y < last; ++y) {
      std::copy_n(image_.row(y), image_.width, const_cast<float*>(saved(edge, y)));
    }
  }

  HostView<const float> image_;
  int band_, radius_;
  std::vector<float> rows_;
};

}  // namespace

int gaussian_radius(double sigma) {
  check_sigma(sigma);
  return static_cast<int>(std::ceil(4.0 * sigma));
}

std::vector<float> gaussian_kernel(double sigma, int radius) {
  check_sigma(sigma);
  require(radius >= 0, "a Gaussian kernel's radius is 0 or more, not ", radius);
  std::vector<double> exact(2 * std::size_t(radius) + 1);
  double sum = 0.0;
  for (int i = -radius; i <= radius; ++i) {
    const double distance = i == 0 ? 0.0 : i / sigma;
    sum += exact[i + radius] = std::exp(-0.5 * distance * distance);
  }
  std::vector<float> kernel(exact.size());
  std::transform(exact.begin(), exact.end(), kernel.begin(),
                 [sum](double value) { return static_cast<float>(value / sum); });
  return kernel;
}

void gaussian_blur(const Context& context, HostView<const float> in, HostView<float> out,
                   double sigma) {
  require(in.width == out.width && in.height == out.height, "a blur of ", in.width, " x ",
          in.height, " pixels cannot be written into ", out.width, " x ", out.height);
  const int radius = gaussian_radius(sigma);
  if (in.empty()) return;
  const bool in_place = in.data == out.data;
  require(!in_place || in.stride == out.stride, "a blur in place needs one view: the strides are ",
          in.stride, " and ", out.stride);
  if (radius == 0) {
    for (int y = 0; y < in.height && !in_place; ++y) std::copy_n(in.row(y), in.width, out.row(y));
    return;
  }
  const std::vector<float> kernel = gaussian_kernel(sigma, radius);
  // Bands for every thread, but tall enough that the 2r rows that two of them both blur along x
  // stay a small part of the work; strips so narrow that their ring stays in the nearest cache. No
  // sum depends on either.
  const int bands =
      std::max(1, std::min(2 * context.threads(), in.height / std::max(32, 2 * radius)));
  const int band = divide_up(in.height, bands);
  const int most_columns = std::max(256, 14400 / (2 * radius + 1));
  const int strip = in_place ? in.width : divide_up(in.width, divide_up(in.width, most_columns));
  const SavedRows saved(context, in, in_place ? band : in.height, radius);
  parallel_for(context, in.height, band, [&](int begin, int end) {
    Band rows(kernel.data(), radius, in.width, in.height, strip);
    auto input = [&](int y) { return in_place ? saved.row(y, begin) : in.row(y); };
    for (int left = 0; left < in.width; left += strip) {
      rows.run(begin, end, left, std::min(left + strip, in.width), input, out);
    }
  });
}

void GaussianOptions::validate() const { check_sigma(sigma); }

GaussianFilter::GaussianFilter(const Context& context, const GaussianOptions& options)
    : ImageFilter(context), options_(options) {
  options.validate();
  radius_ = gaussian_radius(options.sigma);
  const std::vector<float> kernel = gaussian_kernel(options.sigma, radius_);
  weights_.assign(kernel.begin() + radius_, kernel.end());
  if constexpr (kHasCuda) {
    if (context.is_cuda()) upload_weights();
  }
}

void GaussianFilter::run(HostView<const float> image, HostView<float> out, float) {
  gaussian_blur(context(), image, out, options_.sigma);
  mark("blur");
}

void GaussianFilter::enqueue_stack(DeviceView<const float> first, DeviceView<float> first_out,
                                   int images, float) {
  if constexpr (kHasCuda) {
    enqueue_blur(first, first_out, images);
    mark("blur");
  }
}

}  // namespace cornea
