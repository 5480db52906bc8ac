// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <png.h>
#include <sys/resource.h>

#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using testing::ByteVector;
using testing::expect_error;
using testing::expect_same;

// A PNG written by libpng from packed rows, with the settings that a test needs.
struct RawPng {
  int width = 0, height = 0, bits = 8, colour_type = PNG_COLOR_TYPE_GRAY;
  bool interlaced = false;
  std::vector<ByteVector> rows = {};
  std::vector<png_color> palette = {};
  ByteVector palette_alpha = {};
  bool transparent_colour = false;
  png_color_16 transparent = {};
  std::string text = {};  // stored compressed

  ByteVector bytes() const {
    ByteVector out;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(
        png, &out,
        [](png_structp p, png_bytep data, std::size_t n) {
          auto* to = static_cast<ByteVector*>(png_get_io_ptr(p));
          to->insert(to->end(), data, data + n);
        },
        nullptr);
    png_set_IHDR(png, info, png_uint_32(width), png_uint_32(height), bits, colour_type,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (!palette.empty()) png_set_PLTE(png, info, palette.data(), int(palette.size()));
    if (!palette_alpha.empty()) {
      png_set_tRNS(png, info, palette_alpha.data(), int(palette_alpha.size()), nullptr);
    }
    if (transparent_colour) png_set_tRNS(png, info, nullptr, 0, &transparent);
    if (!text.empty()) {
      char key[] = "Comment";
      png_text row{};
      row.compression = PNG_TEXT_COMPRESSION_zTXt;
      row.key = key;
      row.text = const_cast<char*>(text.data());
      row.text_length = text.size();
      png_set_text(png, info, &row, 1);
    }
    png_write_info(png, info);
    std::vector<png_bytep> pointers;
    for (const ByteVector& row : rows) pointers.push_back(const_cast<png_bytep>(row.data()));
    png_write_image(png, pointers.data());
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return out;
  }
};

std::vector<std::uint8_t> gray_values(const RawPng& png) {
  return testing::pixels_of(decode_image<std::uint8_t>(png.bytes(), "test.png"));
}

TEST(Png, RoundTripsEveryDepthAndColour) {
  const testing::TemporaryFolder folder;
  const auto check = [&](const auto& image) {
    using T = std::remove_cvref_t<decltype(image(0, 0))>;
    write_image(folder / "a.png", image);
    expect_same(read_image<T>(folder / "a.png"), image);
  };
  check(testing::random_image<std::uint8_t>(37, 21, 1));
  check(testing::random_image<std::uint16_t>(37, 21, 2));
  check(testing::random_rgb<std::uint8_t>(37, 21, 3));
  check(testing::random_rgb<std::uint16_t>(37, 21, 4));
  check(testing::random_image<std::uint8_t>(1, 1, 5));
}

TEST(Png, WritesRowsOfAViewThatIsNotContiguous) {
  const auto image = testing::random_image<std::uint16_t>(20, 10, 6);
  const HostView<const std::uint16_t> part(&image(3, 2), 8, 5, 20);
  const auto read = decode_image<std::uint16_t>(testing::encoded("a.png", part), "a.png");
  ASSERT_EQ(read.width(), 8);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 8; ++x) EXPECT_EQ(read(x, y), image(x + 3, y + 2));
  }
}

TEST(Png, SpreadsOneTwoAndFourBitGrayOverTheWholeRange) {
  EXPECT_EQ(gray_values({.width = 3, .height = 1, .bits = 1, .rows = {{0b10100000}}}),
            (ByteVector{255, 0, 255}));
  EXPECT_EQ(gray_values({.width = 4, .height = 1, .bits = 2, .rows = {{0b00011011}}}),
            (ByteVector{0, 85, 170, 255}));
  EXPECT_EQ(gray_values({.width = 3, .height = 1, .bits = 4, .rows = {{0x0f, 0x30}}}),
            (ByteVector{0, 255, 51}));
}

TEST(Png, LooksUpThePaletteAndDropsItsAlpha) {
  const RawPng png{.width = 4,
                   .height = 1,
                   .bits = 2,
                   .colour_type = PNG_COLOR_TYPE_PALETTE,
                   .rows = {{0b00011011}},
                   .palette = {{1, 2, 3}, {40, 50, 60}, {255, 0, 0}, {7, 8, 9}},
                   .palette_alpha = {0, 128}};
  const auto image = decode_image<Rgb<std::uint8_t>>(png.bytes(), "palette.png");
  EXPECT_EQ(image(0, 0), (Rgb<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(image(1, 0), (Rgb<std::uint8_t>{40, 50, 60}));
  EXPECT_EQ(image(2, 0), (Rgb<std::uint8_t>{255, 0, 0}));
  EXPECT_EQ(image(3, 0), (Rgb<std::uint8_t>{7, 8, 9}));
}

TEST(Png, DropsAlphaAndKeepsTheColourBeneath) {
  const RawPng rgba{.width = 2,
                    .height = 1,
                    .colour_type = PNG_COLOR_TYPE_RGB_ALPHA,
                    .rows = {{10, 20, 30, 0, 40, 50, 60, 255}}};
  const auto colour = decode_image<Rgb<std::uint8_t>>(rgba.bytes(), "rgba.png");
  EXPECT_EQ(colour(0, 0), (Rgb<std::uint8_t>{10, 20, 30}));
  EXPECT_EQ(colour(1, 0), (Rgb<std::uint8_t>{40, 50, 60}));
  const RawPng gray_alpha{.width = 2,
                          .height = 1,
                          .bits = 16,
                          .colour_type = PNG_COLOR_TYPE_GRAY_ALPHA,
                          .rows = {{0x12, 0x34, 0, 0, 0xab, 0xcd, 0xff, 0xff}}};
  const auto gray = decode_image<std::uint16_t>(gray_alpha.bytes(), "la.png");
  EXPECT_EQ(gray(0, 0), 0x1234);
  EXPECT_EQ(gray(1, 0), 0xabcd);
}

TEST(Png, KeepsAPixelOfTheTransparentColour) {
  RawPng gray{.width = 2, .height = 1, .bits = 4, .rows = {{0x2f}}, .transparent_colour = true};
  gray.transparent.gray = 2;
  EXPECT_EQ(gray_values(gray), (ByteVector{34, 255}));
  RawPng colour{.width = 1,
                .height = 1,
                .colour_type = PNG_COLOR_TYPE_RGB,
                .rows = {{9, 8, 7}},
                .transparent_colour = true};
  colour.transparent = {.index = 0, .red = 9, .green = 8, .blue = 7, .gray = 0};
  EXPECT_EQ(decode_image<Rgb<std::uint8_t>>(colour.bytes(), "c.png")(0, 0),
            (Rgb<std::uint8_t>{9, 8, 7}));
}

TEST(Png, ReadsInterlacedFiles) {
  const auto image = testing::random_rgb<std::uint8_t>(19, 13, 7);
  RawPng png{
      .width = 19, .height = 13, .colour_type = PNG_COLOR_TYPE_RGB, .interlaced = true, .rows = {}};
  for (int y = 0; y < 13; ++y) {
    const auto* row = reinterpret_cast<const std::uint8_t*>(image.host().row(y));
    png.rows.emplace_back(row, row + 3 * 19);
  }
  expect_same(decode_image<Rgb<std::uint8_t>>(png.bytes(), "interlaced.png"), image);
}

TEST(Png, ProbeReportsTheStoredFormat) {
  const testing::TemporaryFolder folder;
  const auto probe = [&](const RawPng& png) {
    testing::write_bytes(folder / "p.png", png.bytes());
    return probe_image(folder / "p.png");
  };
  const ImageFileInfo bits = probe({.width = 3, .height = 1, .bits = 1, .rows = {{0}}});
  EXPECT_EQ(bits.format, "PNG");
  EXPECT_EQ(bits.width, 3);
  EXPECT_EQ(bits.height, 1);
  EXPECT_EQ(bits.channels, 1);
  EXPECT_EQ(bits.bits, 1);
  EXPECT_FALSE(bits.is_float);
  const ImageFileInfo alpha = probe({.width = 1,
                                     .height = 1,
                                     .bits = 16,
                                     .colour_type = PNG_COLOR_TYPE_RGB_ALPHA,
                                     .rows = {{0, 0, 0, 0, 0, 0, 0, 0}}});
  EXPECT_EQ(alpha.channels, 4);
  EXPECT_EQ(alpha.bits, 16);
}

TEST(Png, RejectsAHeaderThatClaimsAnAbsurdSize) {
  // The signature and a valid IHDR chunk (its CRC from zlib); the pixels are never needed.
  const ByteVector header = {0x89, 'P', 'N',  'G',  '\r', '\n', 0x1a, '\n', 0,    0,
                             0,    13,  'I',  'H',  'D',  'R',  0,    1,    0x86, 0xa0,
                             0,    1,   0x86, 0xa0, 8,    0,    0,    0,    0};
  ByteVector bytes = header;
  const std::uint32_t crc = [&] {  // CRC-32 over type and data, as the PNG specification gives it
    std::uint32_t c = 0xffffffffu;
    for (std::size_t i = 12; i < header.size(); ++i) {
      c ^= header[i];
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    }
    return ~c;
  }();
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(std::uint8_t(crc >> shift));
  testing::append(bytes, {0, 0, 0, 0, 'I', 'D', 'A', 'T', 0x35, 0xaf, 0x06, 0x1e});
  expect_error(ErrorCode::io,
               "photo.png: claims 100000 x 100000 pixels, over the limit of 268435456; raise "
               "max_pixels (2147483647 at most) if you trust the file",
               [&] { decode_image<std::uint8_t>(bytes, "photo.png"); });
}

TEST(Png, ThePixelLimitIsExact) {
  const ByteVector bytes = testing::encoded("a.png", testing::random_image<std::uint8_t>(10, 7, 8));
  EXPECT_EQ(decode_image<std::uint8_t>(bytes, "a.png", {.max_pixels = 70}).height(), 7);
  expect_error(ErrorCode::io, "a.png: claims 10 x 7 pixels, over the limit of 69",
               [&] { decode_image<std::uint8_t>(bytes, "a.png", {.max_pixels = 69}); });
}

// A file of half a megabyte with a hundred compressed texts of 5 MB each.
ByteVector png_with_long_texts() {
  const std::string letters(5'000'000, 'a');
  ByteVector png = RawPng{.width = 1, .height = 1, .rows = {{7}}, .text = letters}.bytes();
  const std::uint8_t name[] = {'z', 'T', 'X', 't'};
  const auto chunk = std::search(png.begin(), png.end(), std::begin(name), std::end(name)) - 4;
  const std::size_t length = std::size_t(chunk[2]) << 8 | chunk[3];
  const ByteVector text(chunk, chunk + std::ptrdiff_t(length) + 12);
  const auto at = chunk - png.begin();
  for (int i = 1; i < 100; ++i) png.insert(png.begin() + at, text.begin(), text.end());
  return png;
}

std::int64_t peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

TEST(Png, TextChunksAreNotDecompressed) {
  const ByteVector png = png_with_long_texts();
  ASSERT_LT(png.size(), 1'000'000u);
  const std::int64_t before = peak_megabytes();
  EXPECT_EQ(decode_image<std::uint8_t>(png, "texts.png")(0, 0), 7);
  EXPECT_LT(peak_megabytes() - before, 100);
}

TEST(Png, DetectsEveryTruncation) {
  const ByteVector bytes = testing::encoded("a.png", testing::random_rgb<std::uint8_t>(23, 17, 9));
  testing::expect_cuts_are_found(bytes, 20, 10);
  const ByteVector all_but_one(bytes.begin(), bytes.end() - 1);
  expect_error(ErrorCode::io, "a.png: the PNG data are damaged or cut short",
               [&] { decode_image<std::uint8_t>(all_but_one, "a.png"); });
}

TEST(Png, DetectsAChangedPixelByte) {
  ByteVector bytes = testing::encoded("a.png", testing::random_image<std::uint8_t>(32, 32, 11));
  bytes[bytes.size() / 2] ^= 0x40;
  expect_error(ErrorCode::io, "a.png: the PNG data are damaged",
               [&] { decode_image<std::uint8_t>(bytes, "a.png"); });
}

TEST(Png, SurvivesNoise) {
  testing::expect_noise_is_survived(
      testing::encoded("a.png", testing::random_image<std::uint16_t>(9, 9, 12)), 300, 13);
}

}  // namespace
}  // namespace cornea
