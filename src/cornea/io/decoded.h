// SPDX-License-Identifier: Apache-2.0
// Internal to io: the interface that all formats share, and their common checks. Each format has
// its own file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cornea/core/image.h"
#include "cornea/io/image_file.h"

namespace cornea::io {

using Bytes = std::span<const std::uint8_t>;

// A file in memory, its name in error messages, and the largest number of pixels it may claim.
struct Source {
  Bytes bytes;
  std::string name;
  std::uint64_t max_pixels = 0;
};

// Pixels at the file's own depth, gray or colour as stored.
using DecodedImage =
    std::variant<Image<std::uint8_t>, Image<std::uint16_t>, Image<float>, Image<Rgb<std::uint8_t>>,
                 Image<Rgb<std::uint16_t>>, Image<Rgb<float>>>;
DecodedImage make_image(Pixel pixel, int width, int height);

// The rows of a decoded image as bytes, for the decoding libraries to fill.
struct Rows {
  std::uint8_t* data = nullptr;
  std::size_t stride = 0;
  std::uint8_t* row(std::size_t y) const { return data + y * stride; }
};
Rows rows_of(DecodedImage& image);

inline const std::uint8_t* row_of(const AnyView& image, int y) {
  return static_cast<const std::uint8_t*>(image.data()) + y * image.stride_bytes();
}

bool starts_with(Bytes bytes, std::string_view magic);

// Throws unless 1 <= width * height <= max_pixels and both fit an int. Call it before any
// allocation whose size the file decides.
void check_size(const Source& source, std::uint64_t width, std::uint64_t height);

// Reports inconsistent data; `reason` is the decoder's message.
[[noreturn]] void fail_damaged(const Source& source, std::string_view format,
                               std::string_view reason);

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

bool is_png(Bytes bytes);
ImageFileInfo probe_png(const Source& source);
DecodedImage decode_png(const Source& source);
std::vector<std::uint8_t> encode_png(const AnyView& image);  // 8 or 16 bit, gray or RGB

bool is_jpeg(Bytes bytes);
ImageFileInfo probe_jpeg(const Source& source);
DecodedImage decode_jpeg(const Source& source);

bool is_pnm(Bytes bytes);
ImageFileInfo probe_pnm(const Source& source);
DecodedImage decode_pnm(const Source& source);
std::vector<std::uint8_t> encode_pnm(const AnyView& image);  // 8 or 16 bit, gray or RGB

bool is_pfm(Bytes bytes);
ImageFileInfo probe_pfm(const Source& source);
DecodedImage decode_pfm(const Source& source);
std::vector<std::uint8_t> encode_pfm(const AnyView& image);  // float, gray or RGB

// tiff.cc is built only if kHasTiff, webp.cc only if kHasWebp. Recognising the formats needs
// neither.
bool is_tiff(Bytes bytes);
ImageFileInfo probe_tiff(const Source& source);
DecodedImage decode_tiff(const Source& source);
std::vector<std::uint8_t> encode_tiff(const AnyView& image);  // 8 bit, 16 bit or float

bool is_webp(Bytes bytes);
ImageFileInfo probe_webp(const Source& source);
DecodedImage decode_webp(const Source& source);

}  // namespace cornea::io
