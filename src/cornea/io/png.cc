// SPDX-License-Identifier: Apache-2.0
// PNG through libpng. libpng reports errors by longjmp, which must not skip C++ destructors: the
// functions passed to `completes` contain only plain C calls and trivial locals.
#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>

#include <png.h>

#include "cornea/io/decoded.h"

namespace cornea::io {
namespace {

constexpr int kLongestSide = 0x7fffffff;  // check_size limits the size, not libpng
constexpr int kCompressionLevel = 3;      // about twice as fast as zlib's 6, a few percent larger

// State for libpng's callbacks.
struct PngState {
  Bytes input;
  std::size_t position = 0;
  std::vector<std::uint8_t> output;
  char error[256] = "";
};

[[noreturn]] void keep_error(png_structp png, png_const_charp message) {
  auto* state = static_cast<PngState*>(png_get_error_ptr(png));
  std::snprintf(state->error, sizeof(state->error), "%s", message);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(png));
  if (state->input.size() - state->position < count) png_error(png, "the file ends too early");
  std::memcpy(to, state->input.data() + state->position, count);
  state->position += count;
}

bool append(std::vector<std::uint8_t>& output, const std::uint8_t* bytes, std::size_t count) {
  try {
    output.insert(output.end(), bytes, bytes + count);
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // an exception must not pass through libpng
  }
}

void write_bytes(png_structp png, png_bytep bytes, std::size_t count) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(png));
  if (!append(state->output, bytes, count)) png_error(png, "out of memory");
}

template <class Calls>
bool completes(png_structp png, Calls&& calls) {
  if (setjmp(png_jmpbuf(png))) return false;
  calls();
  return true;
}

class PngReader {
 public:
  explicit PngReader(const Source& source) : source_(source) {
    state_.input = source.bytes;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state_, keep_error, ignore_warning);
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  void read_header() {
    check(completes(png_, [this] {
      png_set_user_limits(png_, kLongestSide, kLongestSide);
      // Chunks that do not affect the pixels are skipped: text and profile chunks may decompress to
      // a thousand times their length, and libpng would allocate whatever length the file claims.
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_set_read_fn(png_, &state_, read_bytes);
      png_read_info(png_, info_);
    }));
    check_size(source_, png_get_image_width(png_, info_), png_get_image_height(png_, info_));
  }

  ImageFileInfo info() const {
    const int type = png_get_color_type(png_, info_);
    const bool palette = type == PNG_COLOR_TYPE_PALETTE;
    const bool transparent = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    ImageFileInfo info;
    info.format = "PNG";
    info.width = static_cast<int>(png_get_image_width(png_, info_));
    info.height = static_cast<int>(png_get_image_height(png_, info_));
    info.channels = (palette ? 3 : png_get_channels(png_, info_)) + (transparent ? 1 : 0);
    info.bits = palette ? 8 : png_get_bit_depth(png_, info_);
    return info;
  }

  DecodedImage read_pixels() {
    const ImageFileInfo stored = info();
    const bool colour = stored.channels >= 3, wide = stored.bits == 16;
    DecodedImage image = make_image(
        colour ? (wide ? Pixel::rgb_u16 : Pixel::rgb_u8) : (wide ? Pixel::u16 : Pixel::u8),
        stored.width, stored.height);
    const Rows rows = rows_of(image);
    std::size_t row_bytes = 0;
    check(completes(png_, [this, &row_bytes] { row_bytes = ask_for_plain_pixels(); }));
    if (row_bytes != rows.stride) fail(ErrorCode::internal, source_.name, ": rows of ", row_bytes);
    check(completes(png_, [this, rows] { read_rows(rows); }));
    return image;
  }

 private:
  // Gray or RGB, 8 or 16 bit in the machine's byte order; returns the bytes per row.
  std::size_t ask_for_plain_pixels() {
    png_set_expand(png_);  // palettes to RGB, 1, 2 and 4 bit to 8
    png_set_strip_alpha(png_);
    if (std::endian::native == std::endian::little) png_set_swap(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return png_get_rowbytes(png_, info_);
  }

  void read_rows(Rows rows) {
    const int passes =
        png_get_interlace_type(png_, info_) == PNG_INTERLACE_NONE ? 1 : PNG_INTERLACE_ADAM7_PASSES;
    const std::size_t height = png_get_image_height(png_, info_);
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t y = 0; y < height; ++y) png_read_row(png_, rows.row(y), nullptr);
    }
    png_read_end(png_, nullptr);  // detects a file that was truncated after its pixels
  }

  void check(bool completed) const {
    if (!completed) fail_damaged(source_, "PNG", state_.error);
  }

  const Source& source_;
  PngState state_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state_, keep_error, ignore_warning);
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) {
      png_destroy_write_struct(&png_, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  std::vector<std::uint8_t> write(const AnyView& image) {
    if (!completes(png_, [this, &image] { write_all(image); })) {
      fail(ErrorCode::unsupported, "libpng cannot write it (", state_.error, ")");
    }
    return std::move(state_.output);
  }

 private:
  void write_all(const AnyView& image) {
    const bool wide = channel_of(image.pixel()) == Pixel::u16;
    png_set_user_limits(png_, kLongestSide, kLongestSide);
    png_set_write_fn(png_, &state_, write_bytes, nullptr);
    png_set_compression_level(png_, kCompressionLevel);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(image.width()),
                 static_cast<png_uint_32>(image.height()), wide ? 16 : 8,
                 is_rgb(image.pixel()) ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    if (wide && std::endian::native == std::endian::little) png_set_swap(png_);
    for (int y = 0; y < image.height(); ++y) png_write_row(png_, row_of(image, y));
    png_write_end(png_, nullptr);
  }

  PngState state_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

ImageFileInfo probe_png(const Source& source) {
  PngReader reader(source);
  reader.read_header();
  return reader.info();
}

DecodedImage decode_png(const Source& source) {
  PngReader reader(source);
  reader.read_header();
  return reader.read_pixels();
}

std::vector<std::uint8_t> encode_png(const AnyView& image) { return PngWriter().write(image); }

}  // namespace cornea::io
