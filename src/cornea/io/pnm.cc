// SPDX-License-Identifier: Apache-2.0
// PBM, PGM and PPM, P1 to P6 (netpbm.sourceforge.net/doc/pnm.html). Only the first image of a file
// is read.
#include <algorithm>
#include <limits>

#include "cornea/io/decoded.h"
#include "cornea/io/header_reader.h"

namespace cornea::io {
namespace {

struct PnmHeader {
  std::string_view format;
  bool ascii = false, bitmap = false, colour = false;
  std::uint64_t width = 0, height = 0;
  std::uint32_t max_value = 1;

  bool wide() const { return max_value > 255; }
  std::uint64_t samples() const { return width * height * (colour ? 3 : 1); }
};

PnmHeader read_pnm_header(HeaderReader& reader, const Source& source) {
  const int kind = source.bytes[1] - '0';
  PnmHeader header;
  header.ascii = kind <= 3;
  header.bitmap = kind % 3 == 1;
  header.colour = kind % 3 == 0;
  header.format = header.bitmap ? "PBM" : header.colour ? "PPM" : "PGM";
  header.width = reader.whole_number("the width");
  header.height = reader.whole_number("the height");
  check_size(source, header.width, header.height);
  if (!header.bitmap) {
    const std::uint64_t max_value = reader.whole_number("the largest value");
    if (max_value < 1 || max_value > 65535) {
      fail_damaged(source, header.format, text("a largest value of ", max_value));
    }
    header.max_value = static_cast<std::uint32_t>(max_value);
  }
  if (!header.ascii) reader.end_of_header();
  return header;
}

[[noreturn]] void fail_over_maximum(const Source& source, const PnmHeader& header,
                                    std::uint64_t value) {
  fail_damaged(source, header.format,
               text("a value of ", value, " where ", header.max_value, " is the largest"));
}

// Pixels use the whole range of their type: 10-bit samples (largest value 1023) are scaled to 16
// bit.
template <class T>
void scale_to_full_range(const Source& source, const PnmHeader& header, T* samples,
                         std::size_t count) {
  constexpr std::uint32_t kFull = std::numeric_limits<T>::max();
  const std::uint32_t max_value = header.max_value;
  if (max_value == kFull) return;
  const T largest = *std::max_element(samples, samples + count);
  if (largest > max_value) fail_over_maximum(source, header, largest);
  for (std::size_t i = 0; i < count; ++i) {
    samples[i] = static_cast<T>((samples[i] * kFull + max_value / 2) / max_value);
  }
}

template <class T>
void read_samples(const Source& source, const PnmHeader& header, HeaderReader& reader, T* samples) {
  const std::size_t count = header.samples();
  if (header.ascii) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t value = reader.whole_number("the last pixel");
      if (value > header.max_value) fail_over_maximum(source, header, value);
      samples[i] = static_cast<T>(value);
    }
  } else if constexpr (sizeof(T) == 1) {
    std::copy_n(reader.rest().data(), count, samples);
  } else {  // big-endian
    const std::uint8_t* in = reader.rest().data();
    for (std::size_t i = 0; i < count; ++i) {
      samples[i] = static_cast<T>(in[2 * i] << 8 | in[2 * i + 1]);
    }
  }
  scale_to_full_range(source, header, samples, count);
}

// In a bitmap 1 is black.
std::uint8_t gray_of_bit(int bit) { return bit ? 0 : 255; }

void read_bits(const Source& source, const PnmHeader& header, HeaderReader& reader, Rows rows) {
  if (!header.ascii) {
    const std::uint8_t* in = reader.rest().data();
    const std::size_t row_bytes = (header.width + 7) / 8;
    for (std::size_t y = 0; y < header.height; ++y, in += row_bytes) {
      for (std::size_t x = 0; x < header.width; ++x) {
        rows.row(y)[x] = gray_of_bit(in[x / 8] >> (7 - x % 8) & 1);
      }
    }
    return;
  }
  for (std::size_t i = 0; i < header.samples(); ++i) {  // digits need no white space between them
    reader.skip_space();
    if (reader.at_end()) fail_damaged(source, header.format, "it ends before the last pixel");
    if (reader.current() != '0' && reader.current() != '1') {
      fail_damaged(source, header.format, "a pixel is neither 0 nor 1");
    }
    rows.data[i] = gray_of_bit(reader.current() == '1');
    reader.advance();
  }
}

template <class T>
void append_row(std::vector<std::uint8_t>& bytes, const T* samples, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (sizeof(T) == 2) bytes.push_back(static_cast<std::uint8_t>(samples[i] >> 8));
    bytes.push_back(static_cast<std::uint8_t>(samples[i]));
  }
}

}  // namespace

ImageFileInfo probe_pnm(const Source& source) {
  HeaderReader reader(source, "PNM", 2);
  const PnmHeader header = read_pnm_header(reader, source);
  return {std::string(header.format),
          static_cast<int>(header.width),
          static_cast<int>(header.height),
          header.colour ? 3 : 1,
          header.bitmap   ? 1
          : header.wide() ? 16
                          : 8,
          /*is_float=*/false};
}

DecodedImage decode_pnm(const Source& source) {
  HeaderReader reader(source, "PNM", 2);
  const PnmHeader header = read_pnm_header(reader, source);
  // Checked before memory is allocated; a sample in text form takes at least one byte.
  const std::uint64_t need = header.ascii    ? header.samples()
                             : header.bitmap ? (header.width + 7) / 8 * header.height
                                             : header.samples() * (header.wide() ? 2 : 1);
  reader.require_rest(need);

  const Pixel pixel = header.colour ? (header.wide() ? Pixel::rgb_u16 : Pixel::rgb_u8)
                                    : (header.wide() ? Pixel::u16 : Pixel::u8);
  DecodedImage image =
      make_image(pixel, static_cast<int>(header.width), static_cast<int>(header.height));
  const Rows rows = rows_of(image);
  if (header.bitmap) {
    read_bits(source, header, reader, rows);
  } else if (header.wide()) {
    read_samples(source, header, reader, reinterpret_cast<std::uint16_t*>(rows.data));
  } else {
    read_samples(source, header, reader, rows.data);
  }
  return image;
}

std::vector<std::uint8_t> encode_pnm(const AnyView& image) {
  const bool colour = is_rgb(image.pixel());
  const bool wide = channel_of(image.pixel()) == Pixel::u16;
  const std::string header = text(colour ? "P6" : "P5", "\n", image.width(), " ", image.height(),
                                  "\n", wide ? 65535 : 255, "\n");
  std::vector<std::uint8_t> bytes(header.begin(), header.end());
  const std::size_t samples = std::size_t(image.width()) * (colour ? 3 : 1);
  bytes.reserve(bytes.size() + samples * image.height() * (wide ? 2 : 1));
  for (int y = 0; y < image.height(); ++y) {
    const std::uint8_t* row = row_of(image, y);
    if (wide) {
      append_row(bytes, reinterpret_cast<const std::uint16_t*>(row), samples);
    } else {
      append_row(bytes, row, samples);
    }
  }
  return bytes;
}

}  // namespace cornea::io
