// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/trilateral/trilateral.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numeric>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/core/transfer.h"
#include "cornea/filter/bilateral/range_rows.h"
#include "cornea/filter/bilateral/range_weight.h"
#include "cornea/filter/bilateral/weight_pack.h"
#include "cornea/filter/image_filter_state.h"
#include "cornea/filter/trilateral/device_trilateral.h"
#include "cornea/filter/trilateral/level_rows.h"
#include "cornea/filter/trilateral/plane_windows.h"
#include "cornea/filter/trilateral/trilateral_math.h"
#include "cornea/filter/trilateral/trilateral_steps.h"

namespace cornea::trilateral {
namespace {

using namespace core;
using namespace bilateral;
using namespace filter;

constexpr int kRowsPerPiece = 16;

// The steps up to the levels, on the host.
struct Gradients {
  PaddedImage magnitude, gx, gy;  // with margins for their smoothing
  Image<float> squared;
  double sigma_r = 0;

  Gradients(const Context& context, HostView<const float> image, int margin)
      : magnitude(image.width, image.height, margin),
        gx(image.width, image.height, margin),
        gy(image.width, image.height, margin),
        squared(image.width, image.height) {
    magnitude.fill_margin(kOutside);
    const int w = image.width, h = image.height;
    float least = INFINITY, largest = 0;
    std::mutex mutex;
    parallel_for(context, h, kRowsPerPiece, [&](int begin, int end) {
      float my_least = INFINITY, my_largest = 0;
      for (int y = begin; y < end; ++y) {
        const float *row = image.row(y), *below = image.row(std::min(y + 1, h - 1));
        float *x_out = gx.row(y), *y_out = gy.row(y), *m_out = magnitude.row(y);
        float* s_out = squared.host().row(y);
        for (int x = 0; x < w - 1; ++x) x_out[x] = row[x + 1] - row[x];
        x_out[w - 1] = 0;
        for (int x = 0; x < w; ++x) y_out[x] = below[x] - row[x];
        for (int x = 0; x < w; ++x) {
          s_out[x] = squared_magnitude(x_out[x], y_out[x]);
          m_out[x] = std::sqrt(s_out[x]);
        }
        const auto [low, high] = std::minmax_element(s_out, s_out + w);
        my_least = std::min(my_least, *low);
        my_largest = std::max(my_largest, *high);
      }
      const std::lock_guard lock(mutex);
      least = std::min(least, my_least);
      largest = std::max(largest, my_largest);
    });
    sigma_r = trilateral_range(least, largest);
  }
};

Image<std::uint8_t> find_levels(const Context& context, const Gradients& gradients) {
  const HostView<const float> squared = gradients.squared.host();
  Image<std::uint8_t> levels(squared.width, squared.height);
  const int count = trilateral_level_count(squared.width, squared.height);
  parallel_for(context, squared.height, kLevelRows, [&](int begin, int end) {
    level_rows(squared, gradients.sigma_r, count, begin, end, levels.host());
  });
  return levels;
}

// Pixels sorted by level, the widest windows first.
std::vector<std::uint32_t> level_order(HostView<const std::uint8_t> levels) {
  std::array<std::size_t, 33> place{};  // first index of each level, in descending order of levels
  auto slot = [&](int x, int y) -> std::size_t& { return place[32 - levels(x, y)]; };
  for (int y = 0; y < levels.height; ++y) {
    for (int x = 0; x < levels.width; ++x) ++slot(x, y);
  }
  std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
  std::vector<std::uint32_t> order(std::size_t(levels.width) * levels.height);
  for (int y = 0; y < levels.height; ++y) {
    for (int x = 0; x < levels.width; ++x) {
      order[slot(x, y)++] = std::uint32_t(y) * levels.width + x;
    }
  }
  return order;
}

Grouping chosen(const Context& context, Grouping grouping) {
  if (grouping != Grouping::fastest) return grouping;
  return context.is_cuda() ? Grouping::sorted : Grouping::none;
}

}  // namespace

std::vector<int> window_reach(double sigma) {
  constexpr double kMostLeftOut = 0x1p-27;
  const int far = static_cast<int>(std::ceil(12 * sigma)) + 1;  // beyond it the sum is below e^-60
  std::vector<double> ring(far +
                           1);  // sum of g over positions whose distance, rounded up, is the index
  for (int n = 0; n <= far; ++n) {
    for (int m = 0; m <= far; ++m) {
      const double squared = double(m) * m + double(n) * n;
      const int distance = static_cast<int>(std::ceil(std::sqrt(squared)));
      if (distance > far) break;
      const int alike = (m > 0 ? 2 : 1) * (n > 0 ? 2 : 1);
      ring[distance] += alike * std::exp(-squared / (2 * sigma * sigma));
    }
  }
  int radius = far;
  for (double left_out = ring[radius]; left_out <= kMostLeftOut && radius > 1;
       left_out += ring[radius]) {
    --radius;
  }
  std::vector<int> reach(radius + 1);
  for (int n = 0; n <= radius; ++n) {
    reach[n] = static_cast<int>(std::sqrt(double(radius) * radius - double(n) * n));
  }
  return reach;
}

PlaneWindows::PlaneWindows(double sigma, const std::vector<int>& reach_of)
    : reach(reach_of),
      centre_(static_cast<int>(reach_of.size()) - 1),
      scale_(static_cast<float>(exponent_scale(sigma))) {
  for (int m = -centre_; m <= centre_ + kSlack; ++m) {
    of_column_.push_back(column_exponent(scale_, m));
  }
}

TrilateralSteps::TrilateralSteps(const Context& context, const TrilateralOptions& options)
    : FloatFilter(context), options_(options) {
  options.validate();
  options_.grouping = chosen(context, options.grouping);
  reach_ = window_reach(options.sigma);
  if constexpr (kHasCuda) {
    if (context.is_cuda()) {
      device_ = std::make_unique<DeviceTrilateral>(context, options_, reach_);
    }
  }
}

TrilateralSteps::~TrilateralSteps() = default;

void TrilateralSteps::run(HostView<const float> image, HostView<float> out, float,
                          StageClock& clock) {
  const int w = image.width, h = image.height;
  const int half = gradient_half_width(options_.sigma);
  const Gradients gradients(context(), image, half);
  clock.mark("gradients");
  if (!(gradients.sigma_r > 0)) {
    for (int y = 0; y < h; ++y) std::copy_n(image.row(y), w, out.row(y));
    return;
  }
  const Image<std::uint8_t> levels = find_levels(context(), gradients);
  clock.mark("min-max stack");

  const auto range = static_cast<float>(exponent_scale(gradients.sigma_r));
  const std::vector<float> exponents = window_exponents(options_.sigma, half, half);
  Image<float> a(w, h), b(w, h);
  parallel_for(context(), h, kRowsPerPiece, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      float *to_a = a.host().row(y), *to_b = b.host().row(y);
      if (half == 0) {
        std::copy_n(gradients.gx.row(y), w, to_a);
        std::copy_n(gradients.gy.row(y), w, to_b);
      } else {
        bilateral_row_of_two(gradients.magnitude, gradients.gx, gradients.gy, y, half,
                             exponents.data(), range, to_a, to_b);
      }
    }
  });
  clock.mark("gradient smoothing");

  std::vector<std::uint32_t> order;
  if (options_.grouping == Grouping::sorted) order = level_order(levels.host());
  clock.mark("adaptive level");

  const PaddedImage source(context(), image, 0, 0, 0, range);
  const PlaneWindows windows(options_.sigma, reach_);
  auto filter_pixel = [&](int x, int y) {
    const int widest = static_cast<int>(windows.reach.size()) - 1;
    const int wide = std::min(level_half_width(levels(x, y)), widest);
    const float mean = wide == 0 ? 0
                                 : mean_above_plane(source, windows, x, y, wide, a(x, y) * range,
                                                    b(x, y) * range) /
                                       range;
    out(x, y) = image(x, y) + mean;
  };
  if (order.empty()) {
    parallel_for(context(), h, 4, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) {
        for (int x = 0; x < w; ++x) filter_pixel(x, y);
      }
    });
  } else {
    parallel_for(context(), static_cast<int>(order.size()), 1024, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) filter_pixel(order[i] % w, order[i] / w);
    });
  }
  clock.mark("detail filter");
}

void TrilateralSteps::enqueue(DeviceView<const float> first, DeviceView<float> first_out,
                              int images, float, StageClock& clock) {
  if constexpr (kHasCuda) device_->enqueue(first, first_out, images, clock);
}

Image<std::uint8_t> TrilateralSteps::levels(HostView<const float> image) const {
  return find_levels(context(), Gradients(context(), image, 0));
}

Image<std::uint8_t> TrilateralSteps::levels(DeviceView<const float> image) {
  Image<std::uint8_t> levels(image.width, image.height);
  if constexpr (kHasCuda) {
    StageClock untimed(context());
    const DeviceView<const std::uint8_t> found(device_->enqueue_levels(image, 1, untimed),
                                               image.width, image.height);
    download<std::uint8_t>(context(), found, levels.host());
  }
  return levels;
}

}  // namespace cornea::trilateral

namespace cornea {

void TrilateralOptions::validate() const {
  require(sigma >= 0.1 && sigma <= trilateral::kTrilateralMostSigma, "sigma is ", sigma,
          " and must be 0.1 to ", trilateral::kTrilateralMostSigma, " pixels");
}

TrilateralFilter::TrilateralFilter(const Context& context, const TrilateralOptions& options)
    : ImageFilter(std::make_unique<trilateral::TrilateralSteps>(context, options)) {}

Image<std::uint8_t> TrilateralFilter::level_map(AnyView image) {
  Inside& in = inside();
  in.frames.forget_enqueued();
  core::check_images(in.context, {&image, 1});
  auto& steps = static_cast<trilateral::TrilateralSteps&>(*in.filter);
  if (!in.context.is_cuda()) return steps.levels(in.frames.on_host(image).host<float>());
  Image<std::uint8_t> levels;
  in.frames.guarded([&] {
    levels = steps.levels(in.frames.on_device({&image, 1}).device<float>());
    in.wait();
  });
  return levels;
}

}  // namespace cornea
