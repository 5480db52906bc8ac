#include "cornea/filter/image_filter.h"

#include <cstdint>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/pixels.h"
#include "cornea/core/stopwatch.h"
#include "cornea/core/transfer.h"
#include "cornea/filter/levels.h"

namespace cornea {
namespace {

// Whether what is written lies over what is read.
bool overlap(const AnyView& a, const AnyView& b) {
  auto begin = [](const AnyView& v) { return reinterpret_cast<std::uintptr_t>(v.data()); };
  auto end = [&](const AnyView& v) {
    return begin(v) + v.stride_bytes() * (v.height() - 1) + v.width() * bytes_of(v.pixel());
  };
  return begin(a) < end(b) && begin(b) < end(a);
}

}  // namespace

ImageFilter::ImageFilter(const Context& context) : context_(context), clock_(context) {}

void ImageFilter::check_image(const AnyView& image) const {
  require(!image.empty(), "the image is empty");
  require(image.pixel() != Pixel::f64, "filters take 8-bit, 16-bit or float images, not ",
          name(image.pixel()));
  check_image_size(image);
  require(context_.is_cuda() || !image.on_device(),
          "the image lies in device memory and the context is the CPU's; use the context that owns "
          "the image");
}

void ImageFilter::check_call(std::span<const AnyView> images,
                             std::span<const AnyTarget> out) const {
  require(!images.empty(), "no image was given");
  require(images.size() == out.size(), images.size(), " images and ", out.size(),
          " results were given");
  require(images.size() <= kLargestBatch, "a batch of ", images.size(),
          " images is too large; the limit is ", kLargestBatch);
  const AnyView& first = images[0];
  check_image(first);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const AnyView &image = images[i], &result = out[i].view();
    require(image.width() == first.width() && image.height() == first.height() &&
                image.pixel() == first.pixel() && image.on_device() == first.on_device(),
            "the images of a batch differ in size, type or place; call apply() for each kind");
    require(result.width() == first.width() && result.height() == first.height(), "an image of ",
            first.width(), " x ", first.height(), " pixels cannot be written into ", result.width(),
            " x ", result.height());
    const Pixel gray = channel_of(first.pixel());
    require(result.pixel() == gray || result.pixel() == Pixel::f32, "the result of a ",
            name(first.pixel()), " image is ", name(gray), " or float, not ", name(result.pixel()));
    require(result.on_device() == first.on_device(),
            "the image and the result lie in host and in device memory; copy them to one place");
  }
}

HostView<const float> ImageFilter::levels_on_host(AnyView image) {
  HostView<const float> levels;
  if (image.pixel() == Pixel::f32) {
    levels = image.host<float>();
  } else {
    const std::size_t pixels = std::size_t(image.width()) * image.height();
    const HostView<float> to(host_levels_.reserve<float>(context_, pixels), image.width(),
                             image.height());
    to_levels(context_, image, to);
    levels = to;
  }
  if (channel_of(image.pixel()) == Pixel::f32) require(all_usable(context_, levels), kUnusable);
  return levels;
}

void ImageFilter::apply_on_host(AnyView image, const AnyTarget& out) {
  const int w = image.width(), h = image.height();
  const std::size_t pixels = std::size_t(w) * h;
  HostView<const float> levels = levels_on_host(image);
  if (image.pixel() == Pixel::f32 && overlap(image, out.view())) {
    const HostView<float> copy(host_levels_.reserve<float>(context_, pixels), w, h);
    to_levels(context_, image, copy);
    levels = copy;
  }
  if (out.view().pixel() == Pixel::f32) {
    run(levels, out.host<float>(), level_unit(image.pixel()));
  } else {
    const HostView<float> result(host_result_.reserve<float>(context_, pixels), w, h);
    run(levels, result, level_unit(image.pixel()));
    from_levels(context_, result, out);
  }
}

int* ImageFilter::flag() {
  if (!unusable_.data<int>()) *unusable_.reserve<int>(context_, 1) = 0;
  return unusable_.data<int>();
}

// An image as floats at `to` on the device.
void ImageFilter::place_on_device(AnyView image, DeviceView<float> to) {
  if constexpr (kHasCuda) {
    const std::size_t row = image.width() * bytes_of(image.pixel());
    if (image.on_device()) {
      to_levels(context_, image, to);
    } else if (image.pixel() == Pixel::f32) {
      context_.upload(to.data, row, image.data(), image.stride_bytes(), row, image.height());
    } else {
      void* at = pixels_.reserve_bytes(context_, row * image.height());
      context_.upload(at, row, image.data(), image.stride_bytes(), row, image.height());
      with_gray(channel_of(image.pixel()), [&](auto type) {
        using T = decltype(type);
        const int w = to.width, h = to.height;
        is_rgb(image.pixel())
            ? to_levels(context_, DeviceView<const Rgb<T>>(static_cast<Rgb<T>*>(at), w, h), to)
            : to_levels(context_, DeviceView<const T>(static_cast<T*>(at), w, h), to);
      });
    }
    if (channel_of(image.pixel()) == Pixel::f32) flag_unusable(context_, to, flag());
  }
}

DeviceView<const float> ImageFilter::levels_on_device(AnyView image) {
  const DeviceView<float> to(
      levels_.reserve<float>(context_, std::size_t(image.width()) * image.height()), image.width(),
      image.height());
  place_on_device(image, to);
  return to;
}

void ImageFilter::enqueue_images(std::span<const AnyView> images, std::span<const AnyTarget> out,
                                 bool may_wait) {
  if constexpr (kHasCuda) {
    const AnyView& first = images[0];
    const int w = first.width(), h = first.height(), count = static_cast<int>(images.size());
    const std::size_t pixels = std::size_t(w) * h;
    const bool alone = count == 1 && first.on_device();
    const bool to_float = out[0].view().pixel() == Pixel::f32;
    // A single float image on the device is read and written where it lies.
    DeviceView<const float> stack;
    if (alone && first.pixel() == Pixel::f32 && !overlap(first, out[0].view())) {
      stack = first.device<float>();
      flag_unusable(context_, stack, flag());
    } else {
      auto* levels = levels_.reserve<float>(context_, pixels * count);
      for (int i = 0; i < count; ++i) {
        place_on_device(images[i], DeviceView<float>(levels + i * pixels, w, h));
      }
      stack = DeviceView<const float>(levels, w, h);
    }
    // What cannot be used must not be lost.
    bool over_images = false;
    for (int i = 0; i < count; ++i) over_images |= overlap(images[i], out[i].view());
    if (may_wait && over_images && channel_of(first.pixel()) == Pixel::f32) wait();
    mark(first.on_device() ? "prepare" : "upload");
    const DeviceView<float> result =
        alone && to_float
            ? out[0].device<float>()
            : DeviceView<float>(result_.reserve<float>(context_, pixels * count), w, h);
    enqueue_stack(stack, result, count, level_unit(first.pixel()));
    for (int i = 0; i < count && !(alone && to_float); ++i) {
      const DeviceView<const float> from(result.data + i * pixels, w, h);
      const AnyTarget& target = out[i];
      if (target.view().on_device()) {
        from_levels(context_, from, target);
        continue;
      }
      with_gray(target.view().pixel(), [&](auto type) {
        using T = decltype(type);
        if constexpr (std::is_same_v<T, float>) {
          download<T>(context_, from, target.host<T>());
        } else {
          const DeviceView<T> at(pixels_.reserve<T>(context_, pixels), w, h);
          from_levels(context_, from, at);
          download<T>(context_, at, target.host<T>());
        }
      });
    }
    mark(first.on_device() ? "finish" : "download");
  }
}

void ImageFilter::wait() {
  context_.synchronize();
  int* unusable = unusable_.data<int>();
  if (!unusable || *unusable == 0) return;
  *unusable = 0;
  fail(ErrorCode::invalid_argument, kUnusable);
}

void ImageFilter::apply_batch(std::span<const AnyView> images, std::span<const AnyTarget> out) {
  const Stopwatch watch;
  check_call(images, out);
  if (time_stages_) clock_.start();
  timing_ = time_stages_;
  try {
    if (context_.is_cuda()) {
      enqueue_images(images, out, true);
      wait();
    } else {
      for (std::size_t i = 0; i < images.size(); ++i) apply_on_host(images[i], out[i]);
    }
  } catch (...) {
    // What was queued before may still raise the flag, and the next image is not to blame.
    if (context_.is_cuda()) {
      context_.synchronize();
      if (int* unusable = unusable_.data<int>()) *unusable = 0;
    }
    timing_ = false;
    throw;
  }
  timing_ = false;
  report_ = {images[0].width(), images[0].height(), static_cast<int>(images.size()), 0, {}};
  if (time_stages_) report_.stages = clock_.read();
  report_.milliseconds = watch.milliseconds();
}

void ImageFilter::enqueue(AnyView image, AnyTarget out) {
  require(context_.is_cuda(), "enqueue() is for CUDA contexts; on the CPU use apply()");
  check_call({&image, 1}, {&out, 1});
  require(image.on_device(), "enqueue() takes images in device memory; apply() uploads others");
  timing_ = false;
  enqueue_images({&image, 1}, {&out, 1}, false);
}

}  // namespace cornea
