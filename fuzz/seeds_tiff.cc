// SPDX-License-Identifier: Apache-2.0
// TIFF files in layouts that Cornea reads but does not write, made with libtiff.
#include <fstream>
#include <iterator>

#include <tiffio.h>

#include "cornea/io/decoded.h"
#include "fuzz/harness.h"
#include "fuzz/seeds.h"

namespace cornea::fuzz {
namespace {

struct RawTiff {
  const char* mode = "w";
  int bits = 8, samples = 1, photometric = PHOTOMETRIC_MINISBLACK;
  int format = SAMPLEFORMAT_UINT, planar = PLANARCONFIG_CONTIG, compression = COMPRESSION_NONE;
  int orientation = ORIENTATION_TOPLEFT;
  bool tiled = false;

  ByteVector bytes() const {
    constexpr int kWidth = 20, kHeight = 6, kTile = 16, kRowsOfStrip = 4;
    const MemoryFile file;
    TIFF* t = TIFFOpen(file.path().c_str(), mode);
    must(t != nullptr, "libtiff opens a file in memory");
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, kWidth);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, kHeight);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, format);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, photometric);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, planar);
    TIFFSetField(t, TIFFTAG_COMPRESSION, compression);
    TIFFSetField(t, TIFFTAG_ORIENTATION, orientation);
    if (photometric == PHOTOMETRIC_RGB && samples == 4) {
      const std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
      TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    }
    if (photometric == PHOTOMETRIC_PALETTE) {
      std::vector<std::uint16_t> ramp(std::size_t{1} << bits);
      for (std::size_t i = 0; i < ramp.size(); ++i)
        ramp[i] = std::uint16_t(i * 65535 / ramp.size());
      TIFFSetField(t, TIFFTAG_COLORMAP, ramp.data(), ramp.data(), ramp.data());
    }
    if (tiled) {
      TIFFSetField(t, TIFFTAG_TILEWIDTH, kTile);
      TIFFSetField(t, TIFFTAG_TILELENGTH, kTile);
      ByteVector block = pattern(std::size_t(TIFFTileSize(t)));
      for (std::uint32_t i = 0; i < TIFFNumberOfTiles(t); ++i) {
        TIFFWriteEncodedTile(t, i, block.data(), tmsize_t(block.size()));
      }
    } else {
      TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, kRowsOfStrip);
      for (std::uint32_t i = 0; i < TIFFNumberOfStrips(t); ++i) {
        const std::uint32_t rows = i % 2 == 0 ? kRowsOfStrip : kHeight - kRowsOfStrip;
        ByteVector block = pattern(std::size_t(TIFFVStripSize(t, rows)));
        TIFFWriteEncodedStrip(t, i, block.data(), tmsize_t(block.size()));
      }
    }
    TIFFClose(t);
    std::ifstream in(file.path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
};

}  // namespace

void add_tiff_seeds(Seeds& seeds) {
  const auto add = [&](const char* name, const RawTiff& tiff) {
    seeds.add("tiff", name, tiff.bytes());
  };
  seeds.add_and_damaged("tiff", "lzw8", io::encode_tiff(pattern_image<std::uint8_t>(9, 7)));
  seeds.add_and_damaged("tiff", "lzw_rgb16",
                        io::encode_tiff(pattern_image<Rgb<std::uint16_t>>(9, 7)));
  seeds.add("tiff", "float", io::encode_tiff(pattern_image<Rgb<float>>(5, 3)));
  add("strips", {});
  add("big_endian16", {.mode = "wb", .bits = 16});
  add("bigtiff", {.mode = "w8"});
  add("bits1_white", {.bits = 1, .photometric = PHOTOMETRIC_MINISWHITE});
  add("palette4", {.bits = 4, .photometric = PHOTOMETRIC_PALETTE});
  add("palette8", {.photometric = PHOTOMETRIC_PALETTE, .compression = COMPRESSION_PACKBITS});
  add("rgba_turned",
      {.samples = 4, .photometric = PHOTOMETRIC_RGB, .orientation = ORIENTATION_RIGHTTOP});
  add("planes", {.samples = 3, .photometric = PHOTOMETRIC_RGB, .planar = PLANARCONFIG_SEPARATE});
  add("tiles", {.tiled = true});
  add("tiles_rgb16_deflate", {.bits = 16,
                              .samples = 3,
                              .photometric = PHOTOMETRIC_RGB,
                              .compression = COMPRESSION_ADOBE_DEFLATE,
                              .tiled = true});
  add("tiles_float", {.bits = 32, .format = SAMPLEFORMAT_IEEEFP, .tiled = true});
  add("jpeg", {.compression = COMPRESSION_JPEG, .tiled = true});
  add("fax4", {.bits = 1, .compression = COMPRESSION_CCITTFAX4});
  seeds.add("exif", "tiff", RawTiff{.orientation = ORIENTATION_LEFTBOT}.bytes());
}

}  // namespace cornea::fuzz
