// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/corner_detector.h"

#include <utility>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/frames.h"
#include "cornea/core/stopwatch.h"
#include "cornea/core/transfer.h"
#include "cornea/detect/peaks/peaks_math.h"
#include "cornea/detect/refine/device_refine.h"
#include "cornea/detect/refine/refine.h"
#include "cornea/detect/response.h"

namespace cornea {
namespace {

using namespace core;
using namespace peaks;
using namespace refine;
using namespace detect;

}  // namespace

using core::OrderedBits;
using detect::Map;
using detect::MapUse;
using detect::ResponseCall;
using peaks::Region;

struct CornerDetector::Inside {
  Inside(std::unique_ptr<detect::Response> with, const PeakOptions& options)
      : response(std::move(with)),
        context(response->context()),
        peak_options(options),
        device_peaks(context, options),
        frames(context, response->working()),
        clock(context),
        map(context.is_cuda() ? Place::device : Place::host, "detect: response map") {}

  void check_call(std::span<const AnyView> images, const AnyView& mask) const;
  MapUse map_use() const;
  ResponseCall call_for(const AnyView& first, int count, MapUse use);
  Region region_of(const AnyView& image) const {
    return peaks::inside_margin(image.width(), image.height(), response->margin());
  }
  std::vector<Corner> detect_on_host(const AnyView& image, const AnyView& mask);
  void enqueue(std::span<const AnyView> images, const AnyView& mask);
  std::vector<std::vector<Corner>> collect(int count);
  // For every other call: it uses the memory of what was queued, and may be refused.
  void forget_enqueued() {
    can_collect = false;
    frames.forget_enqueued();
  }

  std::unique_ptr<detect::Response> response;
  Context context;
  PeakOptions peak_options;
  peaks::DevicePeaks device_peaks;
  core::Frames frames;
  core::StageClock clock;
  core::Buffer map;
  bool time_stages = false;
  bool can_collect = false;  // since enqueue() only collect() was called, without an error
  DetectReport report;
};

CornerDetector::CornerDetector(std::unique_ptr<detect::Response> response,
                               const PeakOptions& peaks) {
  peaks.validate();
  inside_ = std::make_unique<Inside>(std::move(response), peaks);
}
CornerDetector::~CornerDetector() = default;
CornerDetector::CornerDetector(CornerDetector&&) noexcept = default;

void CornerDetector::time_stages(bool on) { inside_->time_stages = on; }
const DetectReport& CornerDetector::report() const { return inside_->report; }
const Context& CornerDetector::context() const { return inside_->context; }

void CornerDetector::Inside::check_call(std::span<const AnyView> images,
                                        const AnyView& mask) const {
  core::check_images(context, images, mask);
  const int support = response->margin().before + response->margin().after + 1;
  const AnyView& image = images[0];
  require(image.width() >= support && image.height() >= support, "an image of ", image.width(),
          " x ", image.height(), " pixels is too small; this detector needs at least ", support,
          " x ", support);
}

// A relative threshold and the quadratic fit read values other than those that decide the peaks.
MapUse CornerDetector::Inside::map_use() const {
  const bool more = peak_options.relative || peak_options.subpixel == Subpixel::quadratic;
  return more ? MapUse::every_value : MapUse::peaks;
}

ResponseCall CornerDetector::Inside::call_for(const AnyView& first, int count, MapUse use) {
  const std::size_t pixels = std::size_t(first.width()) * first.height() * count;
  const std::size_t bytes = pixels * bytes_of(response->map_pixel(first.pixel()));
  const Map maps{map.reserve_bytes(context, bytes), first.width(), first.height()};
  return {first, count, maps, use, nullptr, &device_peaks, &clock};
}

std::vector<Corner> CornerDetector::Inside::detect_on_host(const AnyView& given,
                                                           const AnyView& mask) {
  const AnyView image = frames.on_host(given);
  const ResponseCall call = call_for(image, 1, map_use());
  response->respond(call);
  clock.mark(response->stage_names().response);
  const HostView<const std::uint8_t> mask_view =
      mask.empty() ? HostView<const std::uint8_t>() : mask.host<std::uint8_t>();
  peaks::PeakTest test;
  if (response->confirms()) {
    test = [&](double cutoff, std::vector<peaks::PixelAt>& found) {
      clock.mark(response->stage_names().peaks);
      response->confirm(image, cutoff, found, clock);
    };
  }
  peaks::PeakMove move;
  if (peak_options.subpixel == Subpixel::gradient) {
    move = [&](std::span<Corner> points) {
      clock.mark(response->stage_names().peaks);
      refine_corners(context, image, peak_options.subpixel_radius, points);
      clock.mark("refinement");
    };
  }
  auto search = [&](auto value) {
    using R = decltype(value);
    return peaks::search_peaks<R>(context, call.first_map.host<R>(), region_of(image), mask_view,
                                  peak_options, response->unit(image.pixel()), test, move);
  };
  std::vector<Corner> corners =
      response->map_pixel(image.pixel()) == Pixel::f32 ? search(float{}) : search(double{});
  clock.mark(response->stage_names().peaks);
  return corners;
}

void CornerDetector::Inside::enqueue(std::span<const AnyView> images, const AnyView& mask) {
  if constexpr (kHasCuda) {
    const int count = static_cast<int>(images.size());
    const DeviceView<const std::uint8_t> mask_view = frames.mask_on_device(mask);
    const AnyView first = frames.on_device(images);
    if (!images[0].on_device()) clock.mark("upload");
    ResponseCall call = call_for(first, count, map_use());
    auto respond_and_search = [&](auto value) {
      using R = decltype(value);
      device_peaks.prepare<R>(first.width(), first.height(), count);
      OrderedBits<R>* strongest = device_peaks.enqueue_reset<R>(count, region_of(first), mask_view,
                                                                response->unit(first.pixel()));
      const bool track = peak_options.relative && mask.empty();
      if (track) call.strongest = strongest;
      response->respond(call);
      clock.mark(response->stage_names().response);
      peaks::DevicePeakTest test;
      if (response->confirms()) {
        test = [&](const peaks::DeviceCandidates& candidates) {
          clock.mark(response->stage_names().peaks);
          response->enqueue_confirm(first, candidates, clock);
        };
      }
      peaks::DevicePeakMove move;
      if (peak_options.subpixel == Subpixel::gradient) {
        move = [&](Corner* points, const std::uint32_t* counts, std::size_t capacity) {
          clock.mark(response->stage_names().peaks);
          refine::enqueue_refine_corners(context, first, count, peak_options.subpixel_radius,
                                         points, counts, capacity);
          clock.mark("refinement");
        };
      }
      device_peaks.enqueue_search<R>(call.first_map.device<R>(), count, track, test, move);
    };
    response->map_pixel(first.pixel()) == Pixel::f32 ? respond_and_search(float{})
                                                     : respond_and_search(double{});
    clock.mark(response->stage_names().peaks);
    device_peaks.enqueue_delivery(count);
    clock.mark("download");
  }
}

std::vector<std::vector<Corner>> CornerDetector::Inside::collect(int count) {
  std::vector<std::vector<Corner>> corners(count);
  if constexpr (kHasCuda) {
    context.synchronize();
    frames.check_usable();
    for (int i = 0; i < count; ++i) corners[i] = device_peaks.fetch(i);
  }
  return corners;
}

std::vector<std::vector<Corner>> CornerDetector::detect_batch(std::span<const AnyView> images,
                                                              AnyView mask) {
  Inside& in = *inside_;
  const Stopwatch watch;
  in.forget_enqueued();
  in.check_call(images, mask);
  in.clock.start(in.time_stages);
  std::vector<std::vector<Corner>> corners;
  in.frames.guarded([&] {
    if (in.context.is_cuda()) {
      in.enqueue(images, mask);
      corners = in.collect(static_cast<int>(images.size()));
    } else {
      for (const AnyView& image : images) corners.push_back(in.detect_on_host(image, mask));
    }
  });
  in.report = {.width = images[0].width(),
               .height = images[0].height(),
               .frames = static_cast<int>(images.size()),
               .stages = in.clock.read()};
  for (const auto& frame : corners) {
    in.report.points += frame.size();
    if (in.peak_options.subpixel == Subpixel::none) continue;
    for (const Corner& c : frame) {
      in.report.between_pixels += c.x != float(int(c.x)) || c.y != float(int(c.y));
    }
  }
  in.report.milliseconds = watch.milliseconds();
  return corners;
}

std::vector<Corner> CornerDetector::detect(AnyView image, AnyView mask) {
  return std::move(detect_batch({&image, 1}, mask).front());
}

Image<float> CornerDetector::response(AnyView image) {
  Inside& in = *inside_;
  in.forget_enqueued();
  core::check_images(in.context, {&image, 1});
  in.clock.start(false);
  Image<float> result(image.width(), image.height());
  double unit = 1;
  auto scaled_copy = [&](auto map) {
    for (int y = 0; y < map.height; ++y) {
      for (int x = 0; x < map.width; ++x) result(x, y) = peaks::finite_float(map(x, y) / unit);
    }
  };
  auto read_map = [&](Map map, auto value) {
    using R = decltype(value);
    if (!in.context.is_cuda()) return scaled_copy(map.host<R>());
    Image<R> copy(map.width, map.height);
    download<R>(in.context, map.device<R>(), copy.host());
    in.context.synchronize();
    scaled_copy(copy.host());
  };
  in.frames.guarded([&] {
    const AnyView working =
        in.context.is_cuda() ? in.frames.on_device({&image, 1}) : in.frames.on_host(image);
    unit = in.response->unit(working.pixel());
    const ResponseCall call = in.call_for(working, 1, MapUse::every_value);
    in.response->respond(call);
    in.response->map_pixel(working.pixel()) == Pixel::f32 ? read_map(call.first_map, float{})
                                                          : read_map(call.first_map, double{});
    in.frames.check_usable();
  });
  return result;
}

void CornerDetector::enqueue(AnyView device_image, AnyView device_mask) {
  require(inside_->context.is_cuda(), "enqueue() is for CUDA contexts; on the CPU use detect()");
  inside_->can_collect = false;
  inside_->check_call({&device_image, 1}, device_mask);
  require(device_image.on_device(),
          "enqueue() takes an image in device memory; use detect() or "
          "upload it first (cornea/core/transfer.h)");
  inside_->clock.start(false);
  inside_->frames.note_enqueued();
  inside_->frames.guarded([&] {
    inside_->frames.forget_on_device();
    inside_->enqueue({&device_image, 1}, device_mask);
  });
  inside_->can_collect = true;
}

std::vector<Corner> CornerDetector::collect() {
  require(inside_->can_collect,
          "collect() was called and nothing was queued; call enqueue() first");
  inside_->can_collect = false;  // remains so after an error
  std::vector<Corner> corners = std::move(inside_->collect(1).front());
  inside_->can_collect = true;  // a captured graph may be replayed and collected again
  return corners;
}

}  // namespace cornea
