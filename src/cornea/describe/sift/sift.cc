// SPDX-License-Identifier: Apache-2.0
#include "cornea/describe/sift/sift.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/frames.h"
#include "cornea/core/stage_clock.h"
#include "cornea/core/stopwatch.h"
#include "cornea/describe/sift/sift_backend.h"
#include "cornea/filter/bilateral/bilateral_windows.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/filter/trilateral/trilateral_steps.h"

namespace cornea {
namespace {

using namespace core;
using namespace filter;
using namespace gaussian;
using namespace sift;

}  // namespace
void SiftOptions::validate() const {
  BilateralOptions{.sigma_range = sigma_range}.validate();
  require(octaves >= 0 && octaves <= 32, "octaves is ", octaves, " and must be 0 to 32");
  require(intervals >= 1 && intervals <= kMostIntervals, "intervals is ", intervals,
          " and must be 1 to ", kMostIntervals);
  require(sigma >= 0.5 && sigma <= 16, "sigma is ", sigma, " and must be 0.5 to 16 pixels");
  require(blur >= 0 && blur <= 16, "blur is ", blur, " and must be 0 to 16 pixels");
  require(contrast >= 0 && contrast < 1, "contrast is ", contrast, " and must be in [0, 1)");
  require(edge_ratio == 0 || (edge_ratio >= 1 && edge_ratio <= 1e6), "edge_ratio is ", edge_ratio,
          " and must be 1 to 1000000, or 0 for no edge test");
  constexpr double kWidestFilter = 100;  // pixels, of edge-preserving filters
  require(
      scale_space == ScaleSpace::gaussian || level_increment(*this, intervals + 2) <= kWidestFilter,
      "a sigma of ", sigma, " with ", intervals,
      " interval(s) is too wide for edge-preserving filters; choose a smaller sigma or more "
      "intervals");
  require(orientations >= 0 && orientations <= kMostAngles, "orientations is ", orientations,
          " and must be 0 to ", kMostAngles);
  require(max_points >= 0, "max_points is ", max_points, " and must be 0 (no limit) or more");
  require(cell >= 0 && max_per_cell >= 0, "cell is ", cell, " and max_per_cell is ", max_per_cell,
          "; both must be 0 or more");
  require((cell > 0) == (max_per_cell > 0),
          "a cap per grid cell needs both cell and max_per_cell; one of them is 0");
}

std::unique_ptr<FloatFilter> sift::make_level_filter(const Context& context,
                                                     const SiftOptions& options, int level) {
  const double sigma = level_increment(options, level);
  // Edge-preserving filters accept a sigma of at least 0.1 pixels. Smaller increments, which hardly
  // change the image, use the Gaussian.
  constexpr double kNarrowestFilter = 0.1;
  if (options.scale_space == ScaleSpace::gaussian || sigma < kNarrowestFilter) {
    return std::make_unique<gaussian::Blur>(context, GaussianOptions{sigma});
  }
  if (options.scale_space == ScaleSpace::bilateral) {
    return std::make_unique<bilateral::Windows>(
        context, BilateralOptions{.sigma = sigma, .sigma_range = options.sigma_range});
  }
  return std::make_unique<trilateral::TrilateralSteps>(context, TrilateralOptions{.sigma = sigma});
}

namespace {

void check_size(int width, int height) {
  constexpr int kLongestSide = 500000;  // pixels
  require(std::max(width, height) <= kLongestSide &&
              std::int64_t{width} * height <= std::numeric_limits<std::int32_t>::max(),
          "an image of ", width, " x ", height,
          " pixels is too large for SIFT; split it into parts of at most 2^31 - 1 pixels and ",
          kLongestSide, " pixels per side");
}

void check_call(const Context& context, std::span<const AnyView> images, AnyView mask) {
  check_images(context, images, mask);
  check_size(images[0].width(), images[0].height());
}

void check_points(AnyView image, std::span<const Keypoint> points, Angles angles) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Keypoint& p = points[i];
    require(
        p.x >= -0.5f && p.y >= -0.5f && p.x <= image.width() - 0.5f && p.y <= image.height() - 0.5f,
        "point ", i, " at (", p.x, ", ", p.y, ") lies outside the image");
    require(p.scale >= 0.01f && p.scale <= 2000.0f, "the scale of point ", i, " is ", p.scale,
            "; it must be 0.01 to 2000 pixels (for corners: see keypoints_of())");
    require(angles == Angles::assign || std::isfinite(p.angle), "the angle of point ", i,
            " is not finite");
    require(angles == Angles::assign ||
                (p.stretch >= 1 && p.stretch <= 2 * kMostStretch && std::isfinite(p.axis)),
            "the shape of point ", i, " is ", p.stretch, " along ", p.axis,
            "; its stretch must be 1 (round) to ", 2 * kMostStretch);
  }
}

std::unique_ptr<SiftBackend> make_backend(const Context& context, const SiftOptions& options) {
  if constexpr (kHasCuda) {
    if (context.is_cuda()) return make_device_sift(context, options);
  }
  return make_host_sift(context, options);
}

}  // namespace

struct Sift::Inside {
  Inside(const Context& given, const SiftOptions& wanted)
      : context(given),
        options(wanted),
        backend(make_backend(given, wanted)),
        clock(backend->context()) {}

  // Checks and runs a call of the backend and fills the report. After an error the results are
  // empty.
  template <class Check, class Call>
  void run(std::span<const AnyView> images, std::span<Features> out, const Check& check,
           const Call& call) {
    const Stopwatch watch;
    std::size_t points = 0;
    try {
      check();
      if (time_stages) clock.start();
      points = call(time_stages ? &clock : nullptr);
    } catch (...) {
      for (Features& features : out) features.keypoints.clear(), features.descriptors.clear();
      throw;
    }
    report = {
        images[0].width(), images[0].height(), static_cast<int>(images.size()), points, 0, {}};
    if (time_stages) report.stages = clock.read();
    report.milliseconds = watch.milliseconds();
  }

  Context context;
  SiftOptions options;
  std::unique_ptr<SiftBackend> backend;
  StageClock clock;
  bool time_stages = false;
  DetectReport report;
};

Sift::Sift(const Context& context, const SiftOptions& options) {
  options.validate();
  inside_ = std::make_unique<Inside>(context, options);
}

Sift::~Sift() = default;
Sift::Sift(Sift&&) noexcept = default;

void Sift::time_stages(bool on) { inside_->time_stages = on; }
const DetectReport& Sift::report() const { return inside_->report; }
const Context& Sift::context() const { return inside_->context; }
const SiftOptions& Sift::options() const { return inside_->options; }

Features Sift::detect(AnyView image, AnyView mask) {
  Features features;
  detect(image, features, mask);
  return features;
}

void Sift::detect_batch(std::span<const AnyView> images, std::span<Features> out, AnyView mask) {
  const auto check = [&] {
    require(images.size() == out.size(), images.size(), " images and ", out.size(),
            " results were given");
    check_call(inside_->context, images, mask);
  };
  inside_->run(images, out, check, [&](StageClock* clock) {
    inside_->backend->detect(images, mask, out, clock);
    std::size_t points = 0;
    for (const Features& features : out) points += features.size();
    return points;
  });
}

void Sift::describe(AnyView image, std::span<const Keypoint> points, Features& out, Angles angles) {
  const auto check = [&] {
    check_call(inside_->context, {&image, 1}, {});
    check_points(image, points, angles);
  };
  inside_->run({&image, 1}, {&out, 1}, check, [&](StageClock* clock) {
    inside_->backend->describe(image, points, angles, out, clock);
    return points.size();
  });
}

std::size_t Sift::memory_needed(int width, int height, int images) const {
  require(width >= 1 && height >= 1 && images >= 1,
          "memory_needed() takes 1 or more images of at least 1 x 1 pixels, not ", images, " of ",
          width, " x ", height);
  check_size(width, height);
  return inside_->backend->memory_needed(sift_shape(inside_->options, width, height), images);
}

void Sift::keep_on_device(bool on) { inside_->backend->keep_on_device(on); }
const std::uint8_t* Sift::device_descriptors() const {
  return inside_->backend->device_descriptors();
}

DeviceFeatures Sift::detect_on_device(AnyView image, AnyView mask) {
  require(inside_->context.is_cuda(), "detect_on_device() needs a CUDA context, and this one is ",
          inside_->context.name(), "; detect() returns the features on the host");
  DeviceFeatures found;
  const auto check = [&] { check_call(inside_->context, {&image, 1}, mask); };
  inside_->run({&image, 1}, {}, check, [&](StageClock* clock) {
    found = inside_->backend->detect_on_device(image, mask, clock);
    return found.size;
  });
  return found;
}

Image<float> Sift::level(int octave, int level) const {
  return inside_->backend->level(octave, level);
}

std::vector<Keypoint> keypoints_of(std::span<const Corner> corners, float scale) {
  std::vector<Keypoint> points;
  points.reserve(corners.size());
  for (const Corner& c : corners) points.push_back({c.x, c.y, scale, 0, c.response, 0});
  return points;
}

}  // namespace cornea
