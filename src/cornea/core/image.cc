// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/image.h"

#include <cstdint>
#include <limits>

namespace cornea {

std::string_view name(Pixel pixel) {
  switch (pixel) {
    case Pixel::u8:
      return "8-bit gray";
    case Pixel::u16:
      return "16-bit gray";
    case Pixel::f32:
      return "float gray";
    case Pixel::f64:
      return "double map";
    case Pixel::rgb_u8:
      return "8-bit RGB";
    case Pixel::rgb_u16:
      return "16-bit RGB";
    case Pixel::rgb_f32:
      return "float RGB";
  }
  return "unknown";
}

std::size_t bytes_of(Pixel pixel) {
  switch (pixel) {
    case Pixel::u8:
      return 1;
    case Pixel::u16:
      return 2;
    case Pixel::f32:
      return 4;
    case Pixel::f64:
      return 8;
    case Pixel::rgb_u8:
      return 3;
    case Pixel::rgb_u16:
      return 6;
    case Pixel::rgb_f32:
      return 12;
  }
  return 0;
}

void AnyView::check(Pixel pixel, bool on_device) const {
  require(on_device == on_device_, "an image in ", on_device_ ? "device" : "host",
          " memory was given where one in ", on_device ? "device" : "host", " memory is needed");
  require(pixel == pixel_, "a ", name(pixel_), " image was given where a ", name(pixel),
          " one is needed");
}

void check_image_size(const AnyView& image) {
  constexpr int kLargestSide = 1 << 20;
  require(
      image.width() <= kLargestSide && image.height() <= kLargestSide &&
          std::uint64_t(image.width()) * image.height() <= std::numeric_limits<std::int32_t>::max(),
      "an image of ", image.width(), " x ", image.height(),
      " pixels is too large; the limits are 2^31 - 1 pixels and 2^20 per side");
}

}  // namespace cornea
