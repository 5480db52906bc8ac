// SPDX-License-Identifier: Apache-2.0
// TIFF through libtiff, from and to memory. Built only if kHasTiff.
//
// 8-bit, 16-bit and float pixels, gray and RGB, interleaved or in planes, in strips or tiles, are
// read as stored. Palettes, 1- and 4-bit gray, YCbCr and similar layouts go through libtiff's own
// conversion to 8-bit RGB. Anything else is unsupported.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include <tiffio.h>

#include "cornea/io/decoded.h"

namespace cornea::io {
namespace {

// libtiff's view of a file in memory: `input` when reading, `output` when writing.
struct TiffMemory {
  Bytes input;
  std::vector<std::uint8_t> output;
  std::uint64_t position = 0;
  // The first error is the cause; later ones are its consequences.
  char error[512] = "";
  char warning[512] = "";

  std::uint64_t size() const { return input.empty() ? output.size() : input.size(); }
};

TiffMemory& memory_of(thandle_t handle) { return *static_cast<TiffMemory*>(handle); }

tmsize_t read_bytes(thandle_t handle, void* to, tmsize_t count) {
  TiffMemory& memory = memory_of(handle);
  const std::uint8_t* data = memory.input.empty() ? memory.output.data() : memory.input.data();
  if (memory.position >= memory.size() || count <= 0) return 0;
  const auto n =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(count), memory.size() - memory.position);
  std::memcpy(to, data + memory.position, n);
  memory.position += n;
  return static_cast<tmsize_t>(n);
}

tmsize_t write_bytes(thandle_t handle, void* from, tmsize_t count) {
  TiffMemory& memory = memory_of(handle);
  if (!memory.input.empty() || count <= 0) return 0;
  const std::uint64_t end = memory.position + static_cast<std::uint64_t>(count);
  try {
    if (end > memory.output.size()) memory.output.resize(end);
  } catch (const std::bad_alloc&) {
    return 0;  // an exception must not pass through libtiff
  }
  std::memcpy(memory.output.data() + memory.position, from, static_cast<std::size_t>(count));
  memory.position = end;
  return count;
}

toff_t seek(thandle_t handle, toff_t offset, int from) {
  TiffMemory& memory = memory_of(handle);
  const std::uint64_t base = from == SEEK_SET   ? 0
                             : from == SEEK_CUR ? memory.position
                                                : memory.size();
  return memory.position = base + offset;
}

int close_nothing(thandle_t) { return 0; }
toff_t size_of(thandle_t handle) { return memory_of(handle).size(); }

template <std::size_t n>
void keep_first(char (&message)[n], const char* format, std::va_list arguments) {
  if (message[0] == '\0') std::vsnprintf(message, n, format, arguments);
}
// Returning 1 means that the message has been handled: libtiff then prints nothing.
int keep_error(TIFF*, void* memory, const char*, const char* format, std::va_list arguments) {
  keep_first(static_cast<TiffMemory*>(memory)->error, format, arguments);
  return 1;
}
int keep_warning(TIFF*, void* memory, const char*, const char* format, std::va_list arguments) {
  keep_first(static_cast<TiffMemory*>(memory)->warning, format, arguments);
  return 1;
}

using TiffHandle = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

// Null if libtiff rejects the file; memory.error holds the reason.
TiffHandle open_tiff(TiffMemory& memory, const char* mode) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(
      TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_error, &memory);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), keep_warning, &memory);
  return TiffHandle(TIFFClientOpenExt("", mode, &memory, read_bytes, write_bytes, seek,
                                      close_nothing, size_of, nullptr, nullptr, options.get()),
                    TIFFClose);
}

constexpr int kMostSamples = 8;  // colours, alpha and a few more; buffers grow with this number

struct Layout {
  std::uint32_t width = 0, height = 0;
  std::uint16_t bits = 1, samples = 1, format = SAMPLEFORMAT_UINT;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK, planar = PLANARCONFIG_CONTIG;
  std::uint16_t compression = COMPRESSION_NONE, orientation = ORIENTATION_TOPLEFT;

  bool gray() const {
    return photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
  }
  bool plain_type() const {
    return (format == SAMPLEFORMAT_UINT && (bits == 8 || bits == 16)) ||
           (format == SAMPLEFORMAT_IEEEFP && bits == 32);
  }
  bool direct() const {
    return plain_type() && samples <= kMostSamples &&
           (gray() || (photometric == PHOTOMETRIC_RGB && samples >= 3));
  }
  std::uint64_t direct_bytes() const { return std::uint64_t{width} * height * samples * bits / 8; }
};

class TiffReader {
 public:
  explicit TiffReader(const Source& source) : source_(source) {
    memory_.input = source.bytes;
    tiff_ = open_tiff(memory_, "rm");
    if (!tiff_) fail_damaged(source_, "TIFF", memory_.error);
    read_layout();
    check_size(source_, layout_.width, layout_.height);
  }

  ImageFileInfo info() const {
    const bool palette = layout_.photometric == PHOTOMETRIC_PALETTE;
    return {"TIFF",
            static_cast<int>(layout_.width),
            static_cast<int>(layout_.height),
            layout_.samples + (palette ? 2 : 0),
            palette ? 8 : layout_.bits,
            layout_.format == SAMPLEFORMAT_IEEEFP};
  }

  DecodedImage read_pixels() {
    if (!TIFFIsCODECConfigured(layout_.compression)) {
      fail_unsupported(text("compression ", layout_.compression, " is not in this libtiff"));
    }
    if (layout_.compression == COMPRESSION_NONE && layout_.direct() &&
        layout_.direct_bytes() > source_.bytes.size()) {
      fail_damaged(source_, "TIFF", text("the pixels need ", layout_.direct_bytes(), " bytes"));
    }
    memory_.error[0] = memory_.warning[0] = '\0';
    DecodedImage image = layout_.direct() ? read_direct() : read_through_rgba();
    // libtiff only warns if JPEG or fax data end early, and fills in the rest.
    if (memory_.warning[0]) fail_damaged(source_, "TIFF", memory_.warning);
    return image;
  }

 private:
  void read_layout() {
    TIFF* t = tiff_.get();
    TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &layout_.width);
    TIFFGetField(t, TIFFTAG_IMAGELENGTH, &layout_.height);
    TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &layout_.bits);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &layout_.samples);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &layout_.format);
    if (layout_.format == SAMPLEFORMAT_VOID) layout_.format = SAMPLEFORMAT_UINT;
    TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &layout_.planar);
    TIFFGetFieldDefaulted(t, TIFFTAG_COMPRESSION, &layout_.compression);
    TIFFGetFieldDefaulted(t, TIFFTAG_ORIENTATION, &layout_.orientation);
    if (!TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &layout_.photometric) && layout_.samples >= 3) {
      layout_.photometric = PHOTOMETRIC_RGB;
    }
  }

  DecodedImage read_direct() {
    const bool colour = !layout_.gray();
    if (layout_.bits == 8) {
      return colour ? read_blocks<Rgb<std::uint8_t>, std::uint8_t>()
                    : read_blocks<std::uint8_t, std::uint8_t>();
    }
    if (layout_.bits == 16) {
      return colour ? read_blocks<Rgb<std::uint16_t>, std::uint16_t>()
                    : read_blocks<std::uint16_t, std::uint16_t>();
    }
    return colour ? read_blocks<Rgb<float>, float>() : read_blocks<float, float>();
  }

  // A block is a strip or a tile; it holds one plane or all samples interleaved.
  struct Blocks {
    bool tiled = false, planes = false;
    std::uint32_t width = 0, height = 0;
    std::size_t step = 1;  // samples from one pixel to the next
    std::size_t row_samples() const { return step * width; }
  };

  Blocks blocks() const {
    TIFF* t = tiff_.get();
    Blocks b{.tiled = TIFFIsTiled(t) != 0,
             .planes = layout_.planar == PLANARCONFIG_SEPARATE,
             .width = layout_.width,
             .height = layout_.height};
    b.step = b.planes ? 1 : layout_.samples;
    if (b.tiled) {
      TIFFGetField(t, TIFFTAG_TILEWIDTH, &b.width);
      TIFFGetField(t, TIFFTAG_TILELENGTH, &b.height);
    } else {
      TIFFGetFieldDefaulted(t, TIFFTAG_ROWSPERSTRIP, &b.height);
      b.height = std::min(b.height, layout_.height);
    }
    check_size(source_, b.width, b.height);  // a tile may be larger than the image
    return b;
  }

  template <class PixelType, class Sample>
  DecodedImage read_blocks() {
    constexpr int kChannels = sizeof(PixelType) / sizeof(Sample);
    const Blocks b = blocks();
    const Memory memory = Memory::host(b.row_samples() * b.height * sizeof(Sample));
    auto* block = static_cast<Sample*>(memory.data());
    Image<PixelType> image(static_cast<int>(layout_.width), static_cast<int>(layout_.height));
    auto* out = reinterpret_cast<Sample*>(image.host().data);

    for (int plane = 0; plane < (b.planes ? kChannels : 1); ++plane) {
      for (std::uint32_t y = 0; y < layout_.height; y += b.height) {
        // The last strip ends at the image's border, the last tile may extend beyond it.
        const std::uint32_t rows = std::min(b.height, layout_.height - y);
        const std::size_t bytes = b.row_samples() * (b.tiled ? b.height : rows) * sizeof(Sample);
        for (std::uint32_t x = 0; x < layout_.width; x += b.width) {
          read_block(b.tiled, x, y, plane, block, bytes);
          const std::uint32_t columns = std::min(b.width, layout_.width - x);
          Sample* to = out + (std::size_t{y} * layout_.width + x) * kChannels + plane;
          place_block<kChannels>(b, block, columns, rows, to);
        }
      }
    }
    if (layout_.photometric == PHOTOMETRIC_MINISWHITE) {
      invert(out, std::size_t{layout_.width} * layout_.height);
    }
    return image;
  }

  // Copies the first channels of a block's pixels, or its single plane, into the image at `to`.
  template <int channels, class Sample>
  void place_block(const Blocks& b, const Sample* block, std::uint32_t columns, std::uint32_t rows,
                   Sample* to) const {
    for (std::uint32_t y = 0; y < rows; ++y) {
      const Sample* from = block + y * b.row_samples();
      Sample* pixel = to + std::size_t{y} * layout_.width * channels;
      for (std::uint32_t x = 0; x < columns; ++x, from += b.step, pixel += channels) {
        for (int c = 0; c < (b.planes ? 1 : channels); ++c) pixel[c] = from[c];
      }
    }
  }

  void read_block(bool tiled, std::uint32_t x, std::uint32_t y, int plane, void* to,
                  std::size_t bytes) {
    TIFF* t = tiff_.get();
    const auto sample = static_cast<std::uint16_t>(plane);
    const auto count = static_cast<tmsize_t>(bytes);
    const tmsize_t got =
        tiled ? TIFFReadEncodedTile(t, TIFFComputeTile(t, x, y, 0, sample), to, count)
              : TIFFReadEncodedStrip(t, TIFFComputeStrip(t, y, sample), to, count);
    if (got != count) {
      fail_damaged(source_, "TIFF",
                   memory_.error[0] ? memory_.error : "a strip or tile is too short");
    }
  }

  template <class Sample>
  static void invert(Sample* samples, std::size_t count) {
    constexpr Sample kWhite =
        std::is_same_v<Sample, float> ? Sample(1) : std::numeric_limits<Sample>::max();
    for (std::size_t i = 0; i < count; ++i) samples[i] = static_cast<Sample>(kWhite - samples[i]);
  }

  // libtiff's own conversion repeats or invents strips that are missing from the file. Here every
  // strip must lie within the file, and uncompressed strips must be as long as their pixels.
  void check_strips() const {
    TIFF* t = tiff_.get();
    const bool tiled = TIFFIsTiled(t) != 0;
    const std::uint64_t size = source_.bytes.size();
    const std::uint64_t count = tiled ? TIFFNumberOfTiles(t) : TIFFNumberOfStrips(t);
    if (count > size)
      fail_damaged(source_, "TIFF", text(count, " strips or tiles, more than the file has bytes"));
    std::uint64_t stored = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      const std::uint64_t at = TIFFGetStrileOffset(t, index);
      const std::uint64_t bytes = TIFFGetStrileByteCount(t, index);
      if (at == 0 || bytes == 0 || at > size || bytes > size - at) {
        fail_damaged(source_, "TIFF", text("strip or tile ", i, " of ", count, " is missing"));
      }
      stored += bytes;
    }
    if (layout_.compression != COMPRESSION_NONE) return;
    const std::uint64_t planes = layout_.planar == PLANARCONFIG_SEPARATE ? layout_.samples : 1;
    const std::uint64_t needed =
        tiled ? count * TIFFTileSize64(t) : planes * TIFFVStripSize64(t, layout_.height);
    if (needed > stored) fail_damaged(source_, "TIFF", text("the pixels need ", needed, " bytes"));
  }

  DecodedImage read_through_rgba() {
    char reason[1024] = "";
    if (layout_.bits > 8 || layout_.format != SAMPLEFORMAT_UINT) {
      fail_unsupported(text(layout_.bits, " bits per sample, sample format ", layout_.format));
    }
    if (layout_.photometric == PHOTOMETRIC_SEPARATED) fail_unsupported("CMYK");
    if (!TIFFRGBAImageOK(tiff_.get(), reason)) fail_unsupported(reason);
    check_strips();
    const int width = static_cast<int>(layout_.width), height = static_cast<int>(layout_.height);
    Image<std::uint32_t> raster(width, height);
    // The file's own orientation is requested, so that libtiff does not rotate the pixels.
    if (!TIFFReadRGBAImageOriented(tiff_.get(), layout_.width, layout_.height, raster.host().data,
                                   layout_.orientation, /*stop on error=*/1)) {
      fail_damaged(source_, "TIFF", memory_.error);
    }
    DecodedImage image = make_image(layout_.gray() ? Pixel::u8 : Pixel::rgb_u8, width, height);
    std::uint8_t* out = rows_of(image).data;
    const std::uint32_t* in = raster.host().data;
    for (std::size_t i = 0, n = std::size_t(width) * std::size_t(height); i < n; ++i) {
      *out++ = static_cast<std::uint8_t>(TIFFGetR(in[i]));
      if (layout_.gray()) continue;
      *out++ = static_cast<std::uint8_t>(TIFFGetG(in[i]));
      *out++ = static_cast<std::uint8_t>(TIFFGetB(in[i]));
    }
    return image;
  }

  [[noreturn]] void fail_unsupported(const std::string& reason) const {
    fail(ErrorCode::unsupported, source_.name, ": a kind of TIFF that is not read (", reason,
         "); convert it to 8-bit, 16-bit or float, gray or RGB");
  }

  const Source& source_;
  TiffMemory memory_;
  TiffHandle tiff_{nullptr, TIFFClose};
  Layout layout_;
};

bool write_all(TIFF* t, const AnyView& image) {
  const bool colour = is_rgb(image.pixel());
  const bool real = channel_of(image.pixel()) == Pixel::f32;
  const int bits = static_cast<int>(8 * bytes_of(channel_of(image.pixel())));
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, image.width());
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, image.height());
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, colour ? 3 : 1);
  TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, real ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, colour ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  // Every libtiff supports LZW; it does not make noisy float data smaller.
  TIFFSetField(t, TIFFTAG_COMPRESSION, real ? COMPRESSION_NONE : COMPRESSION_LZW);
  if (!real) TIFFSetField(t, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
  TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(t, 0));
  const std::size_t row_bytes = std::size_t(image.width()) * bytes_of(image.pixel());
  std::vector<std::uint8_t> row(row_bytes);  // a copy, because the predictor works in place
  for (int y = 0; y < image.height(); ++y) {
    std::memcpy(row.data(), row_of(image, y), row_bytes);
    if (TIFFWriteScanline(t, row.data(), static_cast<std::uint32_t>(y)) < 0) return false;
  }
  return TIFFFlush(t) != 0;
}

}  // namespace

ImageFileInfo probe_tiff(const Source& source) { return TiffReader(source).info(); }

DecodedImage decode_tiff(const Source& source) { return TiffReader(source).read_pixels(); }

std::vector<std::uint8_t> encode_tiff(const AnyView& image) {
  TiffMemory memory;
  TiffHandle tiff = open_tiff(memory, "wm");
  if (!tiff || !write_all(tiff.get(), image)) {
    fail(ErrorCode::unsupported, "libtiff cannot write it (", memory.error, ")");
  }
  tiff.reset();
  return std::move(memory.output);
}

}  // namespace cornea::io
