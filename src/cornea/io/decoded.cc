// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/decoded.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace cornea::io {

DecodedImage make_image(Pixel pixel, int width, int height) {
  switch (pixel) {
    case Pixel::u8:
      return Image<std::uint8_t>(width, height);
    case Pixel::u16:
      return Image<std::uint16_t>(width, height);
    case Pixel::f32:
      return Image<float>(width, height);
    case Pixel::rgb_u8:
      return Image<Rgb<std::uint8_t>>(width, height);
    case Pixel::rgb_u16:
      return Image<Rgb<std::uint16_t>>(width, height);
    case Pixel::rgb_f32:
      return Image<Rgb<float>>(width, height);
    case Pixel::f64:
      break;
  }
  fail(ErrorCode::internal, "no image format of Cornea decodes to ", name(pixel));
}

Rows rows_of(DecodedImage& image) {
  return std::visit(
      []<class T>(Image<T>& pixels) {
        return Rows{reinterpret_cast<std::uint8_t*>(pixels.host().data),
                    std::size_t(pixels.width()) * sizeof(T)};
      },
      image);
}

bool starts_with(Bytes bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

void check_size(const Source& source, std::uint64_t width, std::uint64_t height) {
  if (width == 0 || height == 0) {
    fail(ErrorCode::io, source.name, ": claims ", width, " x ", height,
         " pixels, so it holds no image; save it again from its source");
  }
  // However large max_pixels is: with more pixels, sizes in bytes could overflow 64 bits.
  constexpr std::uint64_t kMostPixels = std::numeric_limits<int>::max();
  const std::uint64_t limit = std::min(source.max_pixels, kMostPixels);
  if (width > limit || height > limit || width > limit / height) {
    fail(ErrorCode::io, source.name, ": claims ", width, " x ", height,
         " pixels, over the limit of ", limit,
         "; raise max_pixels (2147483647 at most) if you trust the file");
  }
}

void fail_damaged(const Source& source, std::string_view format, std::string_view reason) {
  fail(ErrorCode::io, source.name, ": the ", format, " data are damaged or cut short (", reason,
       "); copy or save the file again");
}

bool is_png(Bytes bytes) { return starts_with(bytes, "\x89PNG\r\n\x1a\n"); }

bool is_jpeg(Bytes bytes) { return starts_with(bytes, "\xff\xd8\xff"); }

bool is_pnm(Bytes bytes) {
  return bytes.size() >= 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6';
}

bool is_pfm(Bytes bytes) { return starts_with(bytes, "Pf") || starts_with(bytes, "PF"); }

bool is_tiff(Bytes bytes) {
  using namespace std::string_view_literals;  // the magic numbers hold zero bytes
  return starts_with(bytes, "II*\0"sv) || starts_with(bytes, "MM\0*"sv) ||
         starts_with(bytes, "II+\0"sv) || starts_with(bytes, "MM\0+"sv);  // 43: BigTIFF
}

bool is_webp(Bytes bytes) {
  return bytes.size() >= 12 && starts_with(bytes, "RIFF") && starts_with(bytes.subspan(8), "WEBP");
}

}  // namespace cornea::io
