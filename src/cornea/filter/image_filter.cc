// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/image_filter.h"

#include <cstdint>
#include <utility>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/core/transfer.h"
#include "cornea/filter/image_filter_state.h"
#include "cornea/filter/levels.h"

namespace cornea {
namespace {

using namespace core;
using namespace filter;

using filter::from_levels;
using filter::level_unit;

// Whether the memory that is written overlaps the memory that is read.
bool overlap(const AnyView& a, const AnyView& b) {
  auto begin = [](const AnyView& v) { return reinterpret_cast<std::uintptr_t>(v.data()); };
  auto end = [&](const AnyView& v) {
    return begin(v) + v.stride_bytes() * (v.height() - 1) + v.width() * bytes_of(v.pixel());
  };
  return begin(a) < end(b) && begin(b) < end(a);
}

void check_call(const Context& context, std::span<const AnyView> images,
                std::span<const AnyTarget> out) {
  require(images.size() == out.size(), images.size(), " images and ", out.size(),
          " results were given");
  core::check_images(context, images);
  const AnyView& first = images[0];
  const Pixel gray = channel_of(first.pixel());
  for (const AnyTarget& target : out) {
    const AnyView& result = target.view();
    core::check_view(result, "result");
    require(result.width() == first.width() && result.height() == first.height(), "an image of ",
            first.width(), " x ", first.height(), " pixels cannot be written into ", result.width(),
            " x ", result.height());
    require(result.pixel() == gray || result.pixel() == Pixel::f32, "the result of a ",
            name(first.pixel()), " image is ", name(gray), " or float, not ", name(result.pixel()));
    require(
        result.on_device() == first.on_device(),
        "one of image and result lies in host memory and the other in device memory; copy them to "
        "the same kind of memory");
  }
}

}  // namespace

ImageFilter::ImageFilter(std::unique_ptr<filter::FloatFilter> filter)
    : inside_(std::make_unique<Inside>(std::move(filter))) {}
ImageFilter::~ImageFilter() = default;
ImageFilter::ImageFilter(ImageFilter&&) noexcept = default;

void ImageFilter::time_stages(bool on) { inside_->time_stages = on; }
const FilterReport& ImageFilter::report() const { return inside_->report; }
const Context& ImageFilter::context() const { return inside_->context; }

void ImageFilter::Inside::apply_on_host(const AnyView& image, const AnyTarget& out) {
  const HostView<const float> levels =
      frames.on_host(image, overlap(image, out.view())).host<float>();
  const float unit = level_unit(image.pixel());
  if (out.view().pixel() == Pixel::f32) return filter->run(levels, out.host<float>(), unit, clock);
  const std::size_t pixels_of_image = std::size_t(levels.width) * levels.height;
  const HostView<float> floats(host_result.reserve<float>(context, pixels_of_image), levels.width,
                               levels.height);
  filter->run(levels, floats, unit, clock);
  from_levels(context, floats, out);
}

// Copies or converts a result to its target.
void ImageFilter::Inside::deliver(DeviceView<const float> from, const AnyTarget& out) {
  if constexpr (kHasCuda) {
    if (out.view().on_device()) return from_levels(context, from, out);
    with_gray(out.view().pixel(), [&](auto type) {
      using T = decltype(type);
      if constexpr (std::is_same_v<T, float>) {
        download<T>(context, from, out.host<T>());
      } else {
        const std::size_t count = std::size_t(from.width) * from.height;
        const DeviceView<T> at(pixels.reserve<T>(context, count), from.width, from.height);
        from_levels(context, from, at);
        download<T>(context, at, out.host<T>());
      }
    });
  }
}

void ImageFilter::Inside::enqueue(std::span<const AnyView> images, std::span<const AnyTarget> out,
                                  bool may_wait) {
  if constexpr (kHasCuda) {
    const AnyView& first = images[0];
    const int w = first.width(), h = first.height(), count = static_cast<int>(images.size());
    const std::size_t pixels_of_image = std::size_t(w) * h;
    bool over_images = false;
    for (int i = 0; i < count; ++i) over_images |= overlap(images[i], out[i].view());
    const DeviceView<const float> stack = frames.on_device(images, over_images).device<float>();
    // An image in place must not be overwritten before its values were checked.
    if (may_wait && over_images && channel_of(first.pixel()) == Pixel::f32) wait();
    clock.mark(first.on_device() ? "prepare" : "upload");
    // A single float result on the device is written directly to its target.
    const bool direct = count == 1 && first.on_device() && out[0].view().pixel() == Pixel::f32;
    const DeviceView<float> to =
        direct ? out[0].device<float>()
               : DeviceView<float>(result.reserve<float>(context, pixels_of_image * count), w, h);
    filter->enqueue(stack, to, count, level_unit(first.pixel()), clock);
    for (int i = 0; i < count && !direct; ++i) {
      deliver(DeviceView<const float>(to.data + i * pixels_of_image, w, h), out[i]);
    }
    clock.mark(first.on_device() ? "finish" : "download");
  }
}

void ImageFilter::Inside::wait() {
  context.synchronize();
  frames.check_usable();
}

void ImageFilter::wait() { inside_->wait(); }

void ImageFilter::apply_batch(std::span<const AnyView> images, std::span<const AnyTarget> out) {
  Inside& in = *inside_;
  const Stopwatch watch;
  in.frames.forget_enqueued();
  check_call(in.context, images, out);
  in.clock.start(in.time_stages);
  in.frames.guarded([&] {
    if (in.context.is_cuda()) {
      in.enqueue(images, out, true);
      in.wait();
    } else {
      for (std::size_t i = 0; i < images.size(); ++i) in.apply_on_host(images[i], out[i]);
    }
  });
  in.report = {images[0].width(), images[0].height(), static_cast<int>(images.size()), 0,
               in.clock.read()};
  in.report.milliseconds = watch.milliseconds();
}

void ImageFilter::enqueue(AnyView image, AnyTarget out) {
  require(inside_->context.is_cuda(), "enqueue() is for CUDA contexts; on the CPU use apply()");
  check_call(inside_->context, {&image, 1}, {&out, 1});
  require(image.on_device(), "enqueue() takes images in device memory; apply() uploads others");
  inside_->clock.start(false);
  inside_->frames.note_enqueued();
  inside_->frames.guarded([&] { inside_->enqueue({&image, 1}, {&out, 1}, false); });
}

}  // namespace cornea
