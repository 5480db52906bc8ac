// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/frames.h"

#include "cornea/core/build.h"
#include "cornea/core/error.h"

namespace cornea::core {
namespace {

const char* place_name(const AnyView& view) { return view.on_device() ? "device" : "host"; }

std::size_t row_bytes(const AnyView& image) { return image.width() * bytes_of(image.pixel()); }

// A view of densely packed pixels of a type in a block of memory.
AnyTarget target_at(void* data, Pixel pixel, int width, int height, bool on_device) {
  return with_pixel(pixel, [&](auto value) {
    auto* pixels = static_cast<decltype(value)*>(data);
    return on_device ? AnyTarget(DeviceView(pixels, width, height))
                     : AnyTarget(HostView(pixels, width, height));
  });
}

void check_mask(const AnyView& image, const AnyView& mask) {
  if (mask.empty()) return;
  check_view(mask, "mask");
  require(mask.pixel() == Pixel::u8, "the mask must be 8-bit gray, not ", name(mask.pixel()));
  require(mask.width() == image.width() && mask.height() == image.height(), "the mask is ",
          mask.width(), " x ", mask.height(), " pixels and the image ", image.width(), " x ",
          image.height(), "; they must be equal");
  require(mask.on_device() == image.on_device(), "the image lies in ", place_name(image),
          " memory and the mask in ", place_name(mask),
          " memory; copy them to the same kind of memory");
}

}  // namespace

void check_view(const AnyView& view, const char* what) {
  require(!view.empty(), "the ", what, " is empty");
  require(view.data() != nullptr, "the ", what,
          " has a size but no pixels (its data pointer is null)");
  require(view.height() <= 1 || view.stride_bytes() >= std::ptrdiff_t(row_bytes(view)),
          "the rows of the ", what, " overlap or run backwards: they are ", view.stride_bytes(),
          " bytes apart and ", row_bytes(view), " bytes long; copy it first");
}

void check_image_of_any_size(const Context& context, const AnyView& image, const AnyView& mask) {
  check_view(image, "image");
  require(image.pixel() != Pixel::f64, "double images are not supported; give float ones (0..1)");
  require(context.is_cuda() || !image.on_device(),
          "the image lies in device memory but the context is a CPU context; use the context that "
          "owns the image");
  check_mask(image, mask);
}

void check_images(const Context& context, std::span<const AnyView> images, const AnyView& mask) {
  require(!images.empty(), "no image was given");
  require(images.size() <= kLargestBatch, "a batch of ", images.size(),
          " images is too large; the limit is ", kLargestBatch);
  const AnyView& first = images.front();
  check_image_of_any_size(context, first, mask);
  check_image_size(first);
  for (const AnyView& image : images.subspan(1)) {
    check_view(image, "image");
    require(image.width() == first.width() && image.height() == first.height() &&
                image.pixel() == first.pixel(),
            "the images of a batch differ: ", first.width(), " x ", first.height(), " ",
            name(first.pixel()), " and ", image.width(), " x ", image.height(), " ",
            name(image.pixel()), "; call once per size and type");
    require(image.on_device() == first.on_device(),
            "the images of a batch are partly in host and partly in device memory; copy them to "
            "the same kind of memory");
  }
}

AnyView Frames::on_host(const AnyView& image, bool copy) {
  const FloatLimits limits = float_limits(working_);
  if (channel_of(image.pixel()) == Pixel::f32) {
    if (const int worst = worst_value(context_, image, limits)) fail_unusable(worst, limits);
  }
  const Pixel pixel = pixel_of(image);
  if (pixel == image.pixel() && !copy) return image;
  const int w = image.width(), h = image.height();
  void* memory = host_.reserve_bytes(context_, std::size_t(w) * h * bytes_of(pixel));
  const AnyTarget to = target_at(memory, pixel, w, h, false);
  convert(context_, image, working_, to);
  return to.view();
}

void Frames::flag_if_float(const AnyView& image) {
  if constexpr (kHasCuda) {
    if (channel_of(image.pixel()) != Pixel::f32) return;
    if (!unusable_.data<int>()) *unusable_.reserve<int>(context_, 1) = 0;
    flag_unusable(context_, image, float_limits(working_), unusable_.data<int>());
  }
}

// Copies a host image to the device without conversion.
AnyView Frames::uploaded(const AnyView& image) {
  const std::size_t row = row_bytes(image);
  void* at = stored_.reserve_bytes(context_, row * image.height());
  context_.upload(at, row, image.data(), image.stride_bytes(), row, image.height());
  return target_at(at, image.pixel(), image.width(), image.height(), true).view();
}

// Converts an image to working pixels at `to` on the device.
void Frames::place(const AnyView& image, const AnyTarget& to) {
  void* at = const_cast<void*>(to.view().data());
  const std::size_t row = row_bytes(image);
  if (to.view().pixel() != image.pixel()) {
    const AnyView source = image.on_device() ? image : uploaded(image);
    flag_if_float(source);
    convert(context_, source, working_, to);
  } else if (image.on_device()) {
    context_.copy_on_device(at, row, image.data(), image.stride_bytes(), row, image.height());
    flag_if_float(to.view());
  } else {
    context_.upload(at, row, image.data(), image.stride_bytes(), row, image.height());
    flag_if_float(to.view());
  }
}

AnyView Frames::on_device(std::span<const AnyView> images, bool copy) {
  const AnyView& first = images[0];
  const Pixel pixel = pixel_of(first);
  if (images.size() == 1 && first.on_device() && pixel == first.pixel() && !copy) {
    flag_if_float(first);
    return first;
  }
  const int w = first.width(), h = first.height();
  const std::size_t frame = std::size_t(w) * h * bytes_of(pixel);
  auto* stack = static_cast<std::byte*>(stack_.reserve_bytes(context_, frame * images.size()));
  for (std::size_t i = 0; i < images.size(); ++i) {
    place(images[i], target_at(stack + i * frame, pixel, w, h, true));
  }
  return target_at(stack, pixel, w, h, true).view();
}

DeviceView<const std::uint8_t> Frames::mask_on_device(const AnyView& mask, bool copy) {
  if (mask.empty()) return {};
  if (mask.on_device() && !copy) return mask.device<std::uint8_t>();
  const int w = mask.width(), h = mask.height();
  auto* to = mask_.reserve<std::uint8_t>(context_, std::size_t(w) * h);
  mask.on_device() ? context_.copy_on_device(to, w, mask.data(), mask.stride_bytes(), w, h)
                   : context_.upload(to, w, mask.data(), mask.stride_bytes(), w, h);
  return {to, w, h};
}

void Frames::check_usable() {
  int* flag = unusable_.data<int>();
  if (!flag || *flag == 0) return;
  const int worst = *flag;
  *flag = 0;
  fail_unusable(worst, float_limits(working_));
}

void Frames::forget() noexcept {
  try {
    context_.synchronize();
  } catch (...) {
    // Ignored: the error that is being propagated says more.
  }
  if (int* flag = unusable_.data<int>()) *flag = 0;
}

void Frames::forget_on_device() {
  if constexpr (kHasCuda) {
    if (int* flag = unusable_.data<int>()) clear_flag(context_, flag);
  }
}

}  // namespace cornea::core
