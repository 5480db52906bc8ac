// SPDX-License-Identifier: Apache-2.0
// Checks for all image formats.
#pragma once

#include <cstring>
#include <type_traits>
#include <variant>
#include <vector>

#include "cornea/io/convert.h"
#include "cornea/io/decoded.h"
#include "cornea/io/exif.h"
#include "cornea/io/upright.h"
#include "fuzz/harness.h"

namespace cornea::fuzz {

// Small, so that no input takes long; all code that depends on the size is reached below it.
inline constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 14;

struct ImageFormat {
  bool (*is)(io::Bytes);
  ImageFileInfo (*probe)(const io::Source&);
  io::DecodedImage (*decode)(const io::Source&);
  // A lossless writer, so that the image can be written and read back; null if there is none.
  std::vector<std::uint8_t> (*encode)(const AnyView&) = nullptr;
};

inline AnyView view_of(const io::DecodedImage& image) {
  return std::visit([](const auto& pixels) { return AnyView(pixels); }, image);
}

inline Bytes pixels_of(const AnyView& view) {
  const std::size_t count = std::size_t(view.width()) * std::size_t(view.height());
  return {static_cast<const std::uint8_t*>(view.data()), count * bytes_of(view.pixel())};
}

inline bool same_pixels(const AnyView& a, const AnyView& b) {
  return a.pixel() == b.pixel() && a.width() == b.width() && a.height() == b.height() &&
         std::memcmp(pixels_of(a).data(), pixels_of(b).data(), pixels_of(a).size()) == 0;
}

inline void check_against_header(const AnyView& view, const ImageFileInfo& info) {
  must(view.width() == info.width && view.height() == info.height,
       "the pixels are as many as the header says");
  must(std::uint64_t(info.width) * std::uint64_t(info.height) <= kMostPixels,
       "an image is within the limit of pixels");
  must(info.is_float == (channel_of(view.pixel()) == Pixel::f32),
       "pixels are float where the header says so");
}

template <class T>
void check_conversions(const Image<T>& image, int orientation) {
  const HostView<const T> stored = image.host();
  const Image<float> gray = io::convert_image<float>(stored);
  if constexpr (!std::is_same_v<GrayOf<T>, float>) {
    for (int y = 0; y < gray.height(); ++y) {
      for (int x = 0; x < gray.width(); ++x) {
        must(gray(x, y) >= 0.0f && gray(x, y) <= 1.0f, "integers become 0..1, never NaN");
      }
    }
  }
  io::convert_image<Rgb<std::uint8_t>>(stored);
  if (orientation == 1) return;
  const Image<T> upright = io::turned_upright<T>(stored, orientation);
  must((orientation >= 5 ? upright.height() : upright.width()) == image.width(),
       "width and height change places from orientation 5 on");
}

inline void check_image(Bytes bytes, const ImageFormat& format) {
  if (!format.is(bytes)) return;
  const io::Source source{bytes, "fuzz", kMostPixels};
  ImageFileInfo info;
  io::DecodedImage image;
  const bool probed = succeeds([&] { info = format.probe(source); });
  if (!succeeds([&] { image = format.decode(source); })) return;
  must(probed, "where pixels can be read the header can");
  const AnyView view = view_of(image);
  check_against_header(view, info);
  const int orientation = decode_exif(bytes).value_or(Exif{}).orientation;
  std::visit([&](const auto& pixels) { check_conversions(pixels, orientation); }, image);
  if (!format.encode) return;
  const std::vector<std::uint8_t> written = format.encode(view);
  must(same_pixels(view_of(format.decode({written, "again", kMostPixels})), view),
       "what was written is read back equal");
}

}  // namespace cornea::fuzz
