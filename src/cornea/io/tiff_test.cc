// SPDX-License-Identifier: Apache-2.0
#include <tiffio.h>

#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using testing::ByteVector;
using testing::expect_error;
using testing::expect_same;

// A TIFF written by libtiff from blocks (strips or tiles) of packed samples.
struct RawTiff {
  int width = 0, height = 0, bits = 8, samples = 1;
  int photometric = PHOTOMETRIC_MINISBLACK;
  int format = SAMPLEFORMAT_UINT, planar = PLANARCONFIG_CONTIG, compression = COMPRESSION_NONE;
  int orientation = ORIENTATION_TOPLEFT;
  int rows_per_strip = 0;  // 0: all
  int tile = 0;            // side of a tile; 0: strips
  const char* mode = "w";
  std::vector<ByteVector> blocks = {};
  std::vector<std::uint16_t> red = {}, green = {}, blue = {};  // a palette

  ByteVector bytes() const {
    const testing::TemporaryFolder folder;
    const std::filesystem::path file = folder / "raw.tif";
    TIFF* t = TIFFOpen(file.c_str(), mode);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, height);
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
    if (!red.empty()) TIFFSetField(t, TIFFTAG_COLORMAP, red.data(), green.data(), blue.data());
    if (tile) {
      TIFFSetField(t, TIFFTAG_TILEWIDTH, tile);
      TIFFSetField(t, TIFFTAG_TILELENGTH, tile);
    } else {
      TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, rows_per_strip ? rows_per_strip : height);
    }
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      ByteVector block = blocks[i];
      if (tile) {
        TIFFWriteEncodedTile(t, i, block.data(), tmsize_t(block.size()));
      } else {
        TIFFWriteEncodedStrip(t, i, block.data(), tmsize_t(block.size()));
      }
    }
    TIFFClose(t);
    return testing::bytes_of_file(file);
  }
};

template <class T>
ByteVector as_bytes(const std::vector<T>& values) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(values.data());
  return {data, data + values.size() * sizeof(T)};
}

template <class T>
std::vector<T> values(const RawTiff& tiff) {
  return testing::pixels_of(decode_image<T>(tiff.bytes(), "test.tif"));
}

TEST(Tiff, RoundTripsEveryDepthAndColour) {
  const testing::TemporaryFolder folder;
  const auto check = [&](const auto& image, int bits, int channels, bool is_float) {
    using T = std::remove_cvref_t<decltype(image(0, 0))>;
    write_image(folder / "a.tiff", image);
    expect_same(read_image<T>(folder / "a.tiff"), image);
    const ImageFileInfo info = probe_image(folder / "a.tiff");
    EXPECT_EQ(info.format, "TIFF");
    EXPECT_EQ(info.bits, bits);
    EXPECT_EQ(info.channels, channels);
    EXPECT_EQ(info.is_float, is_float);
  };
  check(testing::random_image<std::uint8_t>(61, 150, 1), 8, 1, false);
  check(testing::random_image<std::uint16_t>(61, 150, 2), 16, 1, false);
  check(testing::random_image<float>(61, 150, 3), 32, 1, true);
  check(testing::random_rgb<std::uint8_t>(61, 150, 4), 8, 3, false);
  check(testing::random_rgb<std::uint16_t>(61, 150, 5), 16, 3, false);
  check(testing::random_rgb<float>(61, 150, 6), 32, 3, true);
}

TEST(Tiff, ReadsBothByteOrdersAndBigTiff) {
  for (const char* mode : {"wl", "wb", "w8"}) {
    EXPECT_EQ(values<std::uint16_t>({.width = 2,
                                     .height = 1,
                                     .bits = 16,
                                     .mode = mode,
                                     .blocks = {as_bytes<std::uint16_t>({0x0102, 0xfffe})}}),
              (std::vector<std::uint16_t>{0x0102, 0xfffe}))
        << mode;
  }
}

TEST(Tiff, ReadsAShorterLastStrip) {
  EXPECT_EQ(values<std::uint8_t>({.width = 2,
                                  .height = 5,
                                  .compression = COMPRESSION_LZW,
                                  .rows_per_strip = 2,
                                  .blocks = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10}}}),
            (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(Tiff, ReadsTilesThatReachBeyondTheImage) {
  RawTiff tiff{.width = 20, .height = 18, .tile = 16, .blocks = {}};
  for (int ty = 0; ty < 2; ++ty) {
    for (int tx = 0; tx < 2; ++tx) {
      ByteVector tile;
      for (int y = 0; y < 16; ++y) {
        for (int x = 0; x < 16; ++x) tile.push_back(std::uint8_t((tx * 16 + x) * 8 + ty * 16 + y));
      }
      tiff.blocks.push_back(tile);
    }
  }
  const auto image = decode_image<std::uint8_t>(tiff.bytes(), "tiles.tif");
  ASSERT_EQ(image.width(), 20);
  ASSERT_EQ(image.height(), 18);
  for (int y = 0; y < 18; ++y) {
    for (int x = 0; x < 20; ++x) ASSERT_EQ(image(x, y), x * 8 + y) << x << ", " << y;
  }
}

TEST(Tiff, ReadsPlanesAndDropsAlpha) {
  const std::vector<Rgb<std::uint8_t>> expected = {{1, 3, 5}, {2, 4, 6}};
  EXPECT_EQ(values<Rgb<std::uint8_t>>({.width = 2,
                                       .height = 1,
                                       .samples = 3,
                                       .photometric = PHOTOMETRIC_RGB,
                                       .planar = PLANARCONFIG_SEPARATE,
                                       .blocks = {{1, 2}, {3, 4}, {5, 6}}}),
            expected);
  EXPECT_EQ(values<Rgb<std::uint8_t>>({.width = 2,
                                       .height = 1,
                                       .samples = 4,
                                       .photometric = PHOTOMETRIC_RGB,
                                       .blocks = {{1, 3, 5, 0, 2, 4, 6, 77}}}),
            expected);
}

TEST(Tiff, InvertsIfZeroIsWhite) {
  EXPECT_EQ(
      values<std::uint8_t>(
          {.width = 2, .height = 1, .photometric = PHOTOMETRIC_MINISWHITE, .blocks = {{0, 55}}}),
      (std::vector<std::uint8_t>{255, 200}));
  EXPECT_EQ(values<std::uint16_t>({.width = 2,
                                   .height = 1,
                                   .bits = 16,
                                   .photometric = PHOTOMETRIC_MINISWHITE,
                                   .blocks = {as_bytes<std::uint16_t>({0, 65535})}}),
            (std::vector<std::uint16_t>{65535, 0}));
  EXPECT_EQ(values<std::uint8_t>({.width = 3,
                                  .height = 1,
                                  .bits = 1,
                                  .photometric = PHOTOMETRIC_MINISWHITE,
                                  .blocks = {{0b01000000}}}),
            (std::vector<std::uint8_t>{255, 0, 255}));
}

TEST(Tiff, DoesNotInventMissingStrips) {
  // Two strips are claimed and one exists; a palette goes through libtiff's own conversion.
  RawTiff tiff{.width = 2,
               .height = 4,
               .photometric = PHOTOMETRIC_PALETTE,
               .rows_per_strip = 2,
               .blocks = {{7, 0, 255, 7}},
               .red = std::vector<std::uint16_t>(256),
               .green = std::vector<std::uint16_t>(256),
               .blue = std::vector<std::uint16_t>(256)};
  tiff.red[255] = 65535;
  const ByteVector bytes = tiff.bytes();
  expect_error(ErrorCode::io, "damaged", [&] { decode_image<std::uint8_t>(bytes, "short.tif"); });
  tiff.blocks.push_back({1, 2, 3, 4});
  EXPECT_EQ(values<std::uint8_t>(tiff).size(), 8u);
}

TEST(Tiff, LooksUpThePalette) {
  RawTiff tiff{.width = 2,
               .height = 2,
               .photometric = PHOTOMETRIC_PALETTE,
               .blocks = {{7, 0, 255, 7}},
               .red = std::vector<std::uint16_t>(256),
               .green = std::vector<std::uint16_t>(256),
               .blue = std::vector<std::uint16_t>(256)};
  for (std::size_t i = 0; i < 256; ++i) {
    tiff.red[i] = std::uint16_t(i * 257);
    tiff.green[i] = std::uint16_t((255 - i) * 257);
    tiff.blue[i] = 100 * 257;
  }
  EXPECT_EQ(
      values<Rgb<std::uint8_t>>(tiff),
      (std::vector<Rgb<std::uint8_t>>{{7, 248, 100}, {0, 255, 100}, {255, 0, 100}, {7, 248, 100}}));
}

TEST(Tiff, DoesNotApplyTheOrientation) {
  for (const int bits : {8, 1}) {  // read directly, and through libtiff's conversion
    EXPECT_EQ(values<std::uint8_t>(
                  {.width = 2,
                   .height = 2,
                   .bits = bits,
                   .orientation = ORIENTATION_BOTRIGHT,
                   .blocks = {bits == 8 ? ByteVector{255, 0, 0, 0} : ByteVector{0x80, 0x00}}}),
              (std::vector<std::uint8_t>{255, 0, 0, 0}))
        << bits;
  }
}

TEST(Tiff, OtherLayoutsAreReportedAsUnsupported) {
  const auto refused = [](const RawTiff& tiff, const std::string& fragment) {
    const ByteVector bytes = tiff.bytes();
    expect_error(ErrorCode::unsupported, fragment,
                 [&] { decode_image<std::uint8_t>(bytes, "odd.tif"); });
  };
  refused({.width = 1, .height = 1, .bits = 32, .blocks = {{0, 0, 0, 0}}}, "32 bits per sample");
  refused({.width = 1, .height = 1, .format = SAMPLEFORMAT_INT, .blocks = {{0}}},
          "odd.tif: a kind of TIFF that is not read");
  refused({.width = 1,
           .height = 1,
           .samples = 4,
           .photometric = PHOTOMETRIC_SEPARATED,
           .blocks = {{0, 0, 0, 0}}},
          "CMYK");
}

TEST(Tiff, DetectsTruncationOrReadsEveryPixel) {
  // libtiff writes the directory last. The bytes after it may be a resolution or a further page:
  // cutting them off loses no pixel.
  const auto image = testing::random_rgb<std::uint8_t>(15, 9, 7);
  const ByteVector bytes = testing::encoded("a.tif", image);
  ::testing::internal::CaptureStderr();
  int whole = 0;
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    const ByteVector cut(bytes.begin(), bytes.begin() + std::ptrdiff_t(length));
    try {
      expect_same(decode_image<Rgb<std::uint8_t>>(cut, "cut.tif"), image);
      ++whole;
    } catch (const Error& error) {
      EXPECT_EQ(name(error.code()), "io") << error.what();
      EXPECT_EQ(std::string(error.what()).rfind("cut.tif: ", 0), 0u) << error.what();
    }
  }
  EXPECT_LT(whole, 20);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Tiff, DetectsMissingPixels) {
  // Here the directory comes first, as some cameras write it.
  ByteVector bytes = {'I', 'I', 42, 0, 8, 0, 0, 0, 8, 0};
  const auto entry = [&](int tag, int type, std::uint32_t value) {
    testing::append(bytes, {std::uint8_t(tag), std::uint8_t(tag >> 8), std::uint8_t(type), 0, 1, 0,
                            0, 0, std::uint8_t(value), std::uint8_t(value >> 8),
                            std::uint8_t(value >> 16), std::uint8_t(value >> 24)});
  };
  constexpr std::uint32_t kWidth = 5, kHeight = 4, kPixelsAt = 10 + 8 * 12 + 4;
  entry(256, 4, kWidth);
  entry(257, 4, kHeight);
  entry(258, 3, 8);
  entry(259, 3, 1);
  entry(262, 3, 1);
  entry(273, 4, kPixelsAt);
  entry(278, 4, kHeight);
  entry(279, 4, kWidth * kHeight);
  testing::append(bytes, {0, 0, 0, 0});
  for (std::uint32_t i = 0; i < kWidth * kHeight; ++i) bytes.push_back(std::uint8_t(i * 3));
  EXPECT_EQ(decode_image<std::uint8_t>(bytes, "first.tif")(4, 3), 57);
  testing::expect_cuts_are_found(bytes, 40, 8);
  ByteVector huge = bytes;
  huge[10 + 8 + 2] = 0x10;  // the width becomes more than a million pixels, none of which exist
  expect_error(ErrorCode::io, "huge.tif: the TIFF data are damaged or cut short",
               [&] { decode_image<std::uint8_t>(huge, "huge.tif"); });
  expect_error(ErrorCode::io, "huge.tif: claims 1048581 x 4 pixels, over the limit of 1000000",
               [&] { decode_image<std::uint8_t>(huge, "huge.tif", {.max_pixels = 1000000}); });
}

TEST(Tiff, SurvivesNoise) {
  testing::expect_noise_is_survived(
      testing::encoded("a.tif", testing::random_rgb<std::uint8_t>(15, 9, 9)), 500, 10);
  testing::expect_noise_is_survived(
      testing::encoded("a.tif", testing::random_image<float>(15, 9, 11)), 500, 12);
}

}  // namespace
}  // namespace cornea
