// SPDX-License-Identifier: Apache-2.0
// PFM, the portable float map (pauldebevec.com/Research/HDR/PFM): a text header, then float pixels,
// bottom row first. The sign of the scale gives the byte order. Its magnitude is a unit that few
// programs write and fewer read; it is ignored, so that floats round-trip exactly.
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "cornea/io/decoded.h"
#include "cornea/io/header_reader.h"

namespace cornea::io {
namespace {

constexpr bool kMachineIsLittleEndian = std::endian::native == std::endian::little;

struct PfmHeader {
  int width = 0, height = 0;
  bool colour = false, little_endian = false;
  std::size_t row_bytes() const { return std::size_t(width) * (colour ? 3 : 1) * sizeof(float); }
};

PfmHeader read_pfm_header(HeaderReader& reader, const Source& source) {
  const std::uint64_t width = reader.whole_number("the width");
  const std::uint64_t height = reader.whole_number("the height");
  check_size(source, width, height);
  const double scale = reader.real_number("the scale");
  if (!std::isfinite(scale) || scale == 0.0) {
    fail_damaged(source, "PFM", "the scale, whose sign gives the byte order, is not a number");
  }
  reader.end_of_header();
  return {static_cast<int>(width), static_cast<int>(height), source.bytes[1] == 'F', scale < 0.0};
}

void swap_bytes(std::uint8_t* floats, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(float)) {
    std::swap(floats[i], floats[i + 3]);
    std::swap(floats[i + 1], floats[i + 2]);
  }
}

}  // namespace

ImageFileInfo probe_pfm(const Source& source) {
  HeaderReader reader(source, "PFM", 2);
  const PfmHeader header = read_pfm_header(reader, source);
  return {"PFM", header.width, header.height, header.colour ? 3 : 1, 32, /*is_float=*/true};
}

DecodedImage decode_pfm(const Source& source) {
  HeaderReader reader(source, "PFM", 2);
  const PfmHeader header = read_pfm_header(reader, source);
  const std::size_t row_bytes = header.row_bytes();
  reader.require_rest(row_bytes * header.height);
  const std::uint8_t* pixels = reader.rest().data();
  DecodedImage image =
      make_image(header.colour ? Pixel::rgb_f32 : Pixel::f32, header.width, header.height);
  const Rows rows = rows_of(image);
  for (int y = 0; y < header.height; ++y) {
    std::uint8_t* row = rows.row(header.height - 1 - y);
    std::memcpy(row, pixels + y * row_bytes, row_bytes);
    if (header.little_endian != kMachineIsLittleEndian) swap_bytes(row, row_bytes);
  }
  return image;
}

std::vector<std::uint8_t> encode_pfm(const AnyView& image) {
  const std::string header = text(is_rgb(image.pixel()) ? "PF" : "Pf", "\n", image.width(), " ",
                                  image.height(), "\n-1.0\n");
  const std::size_t row_bytes = std::size_t(image.width()) * bytes_of(image.pixel());
  std::vector<std::uint8_t> bytes(header.size() + row_bytes * image.height());
  std::memcpy(bytes.data(), header.data(), header.size());
  std::uint8_t* out = bytes.data() + header.size();
  for (int y = image.height() - 1; y >= 0; --y, out += row_bytes) {
    std::memcpy(out, row_of(image, y), row_bytes);
    if (!kMachineIsLittleEndian) swap_bytes(out, row_bytes);
  }
  return bytes;
}

}  // namespace cornea::io
