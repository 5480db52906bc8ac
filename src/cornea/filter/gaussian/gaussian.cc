// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/gaussian/gaussian.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/host_device.h"
#include "cornea/core/parallel.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/filter/gaussian/gaussian_sums.h"
#include "cornea/filter/gaussian/reflect.h"

namespace cornea::gaussian {
namespace {

using namespace core;

void check_sigma(double sigma) {
  require(sigma >= 0.0 && sigma <= kLargestSigma, "sigma is ", sigma, " and must be 0 to ",
          kLargestSigma, " pixels");
}

// One band of rows, or a strip of its columns: a ring buffer of rows blurred along x, from which
// the rows blurred along y are computed.
class Band {
 public:
  Band(const float* kernel, int radius, int width, int height, int most_columns)
      : weight_(kernel),
        radius_(radius),
        width_(width),
        height_(height),
        columns_(most_columns),
        padded_(std::size_t(most_columns) + 2 * std::size_t(radius)),
        slots_(std::min(2 * radius + kRowsAtOnce, height)),
        ring_(std::size_t(slots_) * most_columns),
        taps_(2 * std::size_t(radius) + kRowsAtOnce),
        unrolled_(unrolled(radius)) {}

  // Writes the rows [begin, end) of the columns [left, right) of out. Each input row is read once,
  // before the output row of the same index is written, so that input and output may be the same
  // memory if all columns are processed.
  void run(int begin, int end, int left, int right, const std::function<const float*(int)>& input,
           HostView<float> out) {
    left_ = left, right_ = right;
    int next = std::max(0, begin - radius_);
    for (int y = begin; y < end; y += kRowsAtOnce) {
      const int rows = std::min(kRowsAtOnce, end - y);
      for (; next <= std::min(height_ - 1, y + rows - 1 + radius_); ++next)
        blur_along_x(input(next), slot(next));
      for (int k = 0; k < rows + 2 * radius_; ++k) {
        taps_[k] = slot(reflect101(y + k - radius_, height_));
      }
      float* to[kRowsAtOnce];
      for (int j = 0; j < rows; ++j) to[j] = out.row(y + j) + left_;
      const int columns = right_ - left_;
      const int made = unrolled_ && rows == kRowsAtOnce
                           ? unrolled_->rows(weight_, taps_.data(), columns, to)
                           : 0;
      for (int j = 0; j < rows && made < columns; ++j) {
        weighted_sum(weight_, 2 * radius_ + 1, taps_.data() + j, made, columns, to[j]);
      }
    }
  }

 private:
  // Mirroring maps the rows y - r .. y + r to rows of the same range, so that kRowsAtOnce output
  // rows need 2r + kRowsAtOnce slots.
  float* slot(int row) { return ring_.data() + std::size_t(row % slots_) * columns_; }

  void blur_along_x(const float* row, float* blurred) {
    // Columns whose taps all lie inside the row.
    const int begin = std::clamp(radius_, left_, right_);
    const int end = std::clamp(width_ - radius_, begin, right_);
    sum_along(row + begin, end - begin, blurred + begin - left_);
    for (const auto& [first, last] : {std::pair(left_, begin), std::pair(end, right_)}) {
      if (first == last) continue;
      for (int x = first - radius_; x < last + radius_; ++x) {
        padded_[x - first + radius_] = row[reflect101(x, width_)];
      }
      sum_along(padded_.data() + radius_, last - first, blurred + first - left_);
    }
  }
  // `middle` points to the first column; taps are read on both sides of it.
  void sum_along(const float* middle, int columns, float* out) {
    const int made = unrolled_ ? unrolled_->along(weight_, middle - radius_, columns, out) : 0;
    if (made == columns) return;
    for (int k = -radius_; k <= radius_; ++k) taps_[k + radius_] = middle + k;
    weighted_sum(weight_, 2 * radius_ + 1, taps_.data(), made, columns, out);
  }

  const float* weight_;
  int radius_, width_, height_, columns_;
  int left_ = 0, right_ = 0;
  std::vector<float> padded_;
  int slots_;  // rows in the ring buffer
  std::vector<float> ring_;
  std::vector<const float*> taps_;
  const Unrolled* unrolled_;
};

// Enough bands for all threads, but tall enough that the 2r rows that neighbouring bands both blur
// along x remain a small part of the work; strips narrow enough that their ring buffer stays in the
// L1 cache. Neither changes any sum.
int bands_of(const Context& context, int rows, int radius) {
  return std::max(1, std::min(2 * context.threads(), rows / std::max(32, 2 * radius)));
}
int strip_columns(int width, int radius) {
  const int most = std::max(256, 14400 / (2 * radius + 1));
  return divide_up(width, divide_up(width, most));
}

// Copies of the rows that one band reads and its neighbours overwrite, for blurring in place.
class SavedRows {
 public:
  SavedRows(const Context& context, HostView<const float> image, int band, int radius)
      : image_(image), band_(band), radius_(radius) {
    const int edges = (image.height - 1) / band;  // borders between bands
    rows_.resize(std::size_t(edges) * 2 * radius * image.width);
    parallel_for(context, edges, 1, [&](int begin, int end) {
      for (int edge = begin; edge < end; ++edge) save(edge);
    });
  }

  // The original row y, for the band that starts at row `begin`.
  const float* row(int y, int begin) const {
    const int band = begin / band_;
    if (y / band_ == band) return image_.row(y);
    return saved(y < begin ? band - 1 : band, y);
  }

 private:
  // Border e lies between the rows (e + 1) band - 1 and (e + 1) band; `radius` rows on either side
  // are saved.
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

void blur_part(const std::vector<float>& kernel, HostView<const float> in, HostView<float> out,
               const BlurPart& part) {
  const int radius = static_cast<int>(kernel.size() / 2);
  if (part.top >= part.bottom || part.left >= part.right) return;
  if (radius == 0) {
    for (int y = part.top; y < part.bottom; ++y) {
      std::copy(in.row(y) + part.left, in.row(y) + part.right, out.row(y) + part.left);
    }
    return;
  }
  const int columns = strip_columns(part.right - part.left, radius);
  Band rows(kernel.data(), radius, in.width, in.height, columns);
  auto input = [&](int y) { return in.row(y); };
  for (int left = part.left; left < part.right; left += columns) {
    rows.run(part.top, part.bottom, left, std::min(left + columns, part.right), input, out);
  }
}

void blur_rows(const Context& context, const std::vector<float>& kernel, HostView<const float> in,
               HostView<float> out, int top, int bottom) {
  const int radius = static_cast<int>(kernel.size() / 2);
  const int count = bottom - top;
  if (count <= 0 || in.width == 0) return;
  const int bands = bands_of(context, count, radius), band = divide_up(count, bands);
  // If there are fewer bands than threads, each band is split into groups of strips.
  const int strip = strip_columns(in.width, radius), strips = divide_up(in.width, strip);
  const int groups = std::clamp(divide_up(2 * context.threads(), bands), 1, strips);
  const int group = divide_up(strips, groups) * strip;
  const int across = divide_up(in.width, group);
  parallel_for(context, divide_up(count, band) * across, 1, [&](int piece, int) {
    const int first = top + piece / across * band, left = piece % across * group;
    blur_part(kernel, in, out,
              {first, std::min(first + band, bottom), left, std::min(left + group, in.width)});
  });
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
  if (!in_place) return blur_rows(context, kernel, in, out, 0, in.height);
  const int band = divide_up(in.height, bands_of(context, in.height, radius));
  const SavedRows saved(context, in, band, radius);
  parallel_for(context, in.height, band, [&](int begin, int end) {
    Band rows(kernel.data(), radius, in.width, in.height, in.width);
    rows.run(
        begin, end, 0, in.width, [&](int y) { return saved.row(y, begin); }, out);
  });
}

Blur::Blur(const Context& context, const GaussianOptions& options)
    : FloatFilter(context), sigma_(options.sigma), radius_(gaussian_radius(options.sigma)) {
  const std::vector<float> kernel = gaussian_kernel(sigma_, radius_);
  weights_.assign(kernel.begin() + radius_, kernel.end());
  if constexpr (kHasCuda) {
    if (context.is_cuda()) upload_weights();
  }
}

void Blur::run(HostView<const float> image, HostView<float> out, float, StageClock& clock) {
  gaussian_blur(context(), image, out, sigma_);
  clock.mark("blur");
}

void Blur::enqueue(DeviceView<const float> first, DeviceView<float> first_out, int images, float,
                   StageClock& clock) {
  if constexpr (kHasCuda) {
    enqueue_on(context().stream(), first, first_out, images);
    clock.mark("blur");
  }
}

}  // namespace cornea::gaussian

namespace cornea {

void GaussianOptions::validate() const { gaussian::check_sigma(sigma); }

GaussianFilter::GaussianFilter(const Context& context, const GaussianOptions& options)
    : ImageFilter(std::make_unique<gaussian::Blur>(context, options)) {}

}  // namespace cornea
