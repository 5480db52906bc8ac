// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
// Before jpeglib.h, which uses FILE without including <cstdio>.
#include <cmath>

#include <jpeglib.h>

#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using testing::ByteVector;
using testing::expect_error;

// A smooth image, which JPEG keeps within a few gray levels.
Image<std::uint8_t> smooth_gray(int width, int height) {
  Image<std::uint8_t> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image(x, y) = std::uint8_t(128 + 60 * std::sin(0.09 * x) + 50 * std::cos(0.07 * y));
    }
  }
  return image;
}

Image<Rgb<std::uint8_t>> smooth_rgb(int width, int height) {
  const auto gray = smooth_gray(width, height);
  Image<Rgb<std::uint8_t>> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image(x, y) = {gray(x, y), std::uint8_t(x), std::uint8_t(255 - 2 * y)};
    }
  }
  return image;
}

ByteVector raw_jpeg(int width, int height, int channels, J_COLOR_SPACE space, bool progressive,
                    std::span<const jpeg_scan_info> scans = {}) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = JDIMENSION(width);
  info.image_height = JDIMENSION(height);
  info.input_components = channels;
  info.in_color_space = space;
  jpeg_set_defaults(&info);
  if (progressive) jpeg_simple_progression(&info);
  if (!scans.empty()) {
    info.scan_info = scans.data();
    info.num_scans = int(scans.size());
  }
  jpeg_start_compress(&info, TRUE);
  ByteVector row(std::size_t(width * channels));
  while (info.next_scanline < info.image_height) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::uint8_t(i + info.next_scanline);
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  ByteVector bytes(buffer, buffer + size);
  std::free(buffer);
  return bytes;
}

int largest_difference(const Image<std::uint8_t>& a, const Image<std::uint8_t>& b) {
  int largest = 0;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) largest = std::max(largest, std::abs(a(x, y) - b(x, y)));
  }
  return largest;
}

TEST(Jpeg, KeepsSmoothGrayWithinAFewLevels) {
  const auto image = smooth_gray(101, 67);
  const auto read = decode_image<std::uint8_t>(encode_jpeg(image, 95), "a.jpg");
  ASSERT_EQ(read.width(), 101);
  ASSERT_EQ(read.height(), 67);
  EXPECT_LE(largest_difference(read, image), 4);
}

TEST(Jpeg, KeepsTheOrderOfTheChannels) {
  const auto image = smooth_rgb(96, 64);
  const testing::TemporaryFolder folder;
  write_image(folder / "a.JPG", image);
  const auto read = read_image<Rgb<std::uint8_t>>(folder / "a.JPG");
  ASSERT_EQ(read.width(), 96);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 96; ++x) {
      EXPECT_NEAR(read(x, y).r, image(x, y).r, 10);
      EXPECT_NEAR(read(x, y).g, image(x, y).g, 10);
      EXPECT_NEAR(read(x, y).b, image(x, y).b, 10);
    }
  }
}

TEST(Jpeg, QualityTradesBytesForErrors) {
  const auto image = testing::random_image<std::uint8_t>(200, 150, 1);
  const ByteVector fine = encode_jpeg(image, 100), coarse = encode_jpeg(image, 20);
  EXPECT_GT(fine.size(), 2 * coarse.size());  // over 64 KiB: the output buffer had to grow
  EXPECT_LE(largest_difference(decode_image<std::uint8_t>(fine, "fine"), image), 3);
  EXPECT_GT(largest_difference(decode_image<std::uint8_t>(coarse, "coarse"), image), 20);
}

TEST(Jpeg, WritesLargeFiles) {
  const auto image = testing::random_image<std::uint8_t>(640, 480, 2);
  const ByteVector bytes = encode_jpeg(image, 100);
  EXPECT_GT(bytes.size(), std::size_t{1} << 18);
  EXPECT_LE(largest_difference(decode_image<std::uint8_t>(bytes, "large"), image), 3);
}

TEST(Jpeg, ReadsProgressiveFiles) {
  const ByteVector plain = raw_jpeg(50, 40, 3, JCS_RGB, false);
  const ByteVector progressive = raw_jpeg(50, 40, 3, JCS_RGB, true);
  EXPECT_NE(plain, progressive);
  testing::expect_same(decode_image<Rgb<std::uint8_t>>(progressive, "progressive.jpg"),
                       decode_image<Rgb<std::uint8_t>>(plain, "plain.jpg"));
}

// Repeats the last scan of a file, which runs from its marker up to the end-of-image marker.
ByteVector with_scans(const ByteVector& jpeg, int more) {
  const std::uint8_t marker[] = {0xff, 0xda};
  const auto scan = std::find_end(jpeg.begin(), jpeg.end(), std::begin(marker), std::end(marker));
  ByteVector bytes(jpeg.begin(), jpeg.end() - 2);
  for (int i = 0; i < more; ++i) bytes.insert(bytes.end(), scan, jpeg.end() - 2);
  bytes.insert(bytes.end(), jpeg.end() - 2, jpeg.end());
  return bytes;
}

// Two scans: first the mean (DC) of each block, then all other coefficients.
ByteVector jpeg_of_two_scans(int width, int height) {
  const jpeg_scan_info scans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
  return raw_jpeg(width, height, 1, JCS_GRAYSCALE, true, scans);
}

TEST(Jpeg, RejectsThousandsOfScans) {
  const ByteVector two = jpeg_of_two_scans(40, 30);
  testing::expect_same(decode_image<std::uint8_t>(with_scans(two, 98), "a.jpg"),
                       decode_image<std::uint8_t>(two, "a.jpg"));
  for (const int more : {99, 5000}) {
    expect_error(ErrorCode::io,
                 "a.jpg: the JPEG data are damaged or cut short (it has more than 100",
                 [&] { decode_image<std::uint8_t>(with_scans(two, more), "a.jpg"); });
  }
}

TEST(Jpeg, RejectsCmyk) {
  const ByteVector bytes = raw_jpeg(16, 16, 4, JCS_CMYK, false);
  expect_error(ErrorCode::unsupported, "print.jpg: is a CMYK JPEG",
               [&] { decode_image<std::uint8_t>(bytes, "print.jpg"); });
  expect_error(ErrorCode::unsupported, "convert it to RGB first",
               [&] { decode_image<std::uint8_t>(bytes, "print.jpg"); });
}

TEST(Jpeg, DetectsEveryTruncation) {
  const ByteVector gray = encode_jpeg(testing::random_image<std::uint8_t>(40, 30, 3), 90);
  testing::expect_cuts_are_found(gray, 20, 4, 3);
  testing::expect_cuts_are_found(raw_jpeg(50, 40, 3, JCS_RGB, true), 20, 5, 3);
  const ByteVector all_but_one(gray.begin(), gray.end() - 1);
  expect_error(ErrorCode::io, "a.jpg: the JPEG data are damaged or cut short",
               [&] { decode_image<std::uint8_t>(all_but_one, "a.jpg"); });
}

TEST(Jpeg, SurvivesNoise) {
  testing::expect_noise_is_survived(encode_jpeg(testing::random_image<std::uint8_t>(24, 24, 6), 80),
                                    300, 7);
}

TEST(Jpeg, ChecksThePixelLimitAgainstTheHeader) {
  const ByteVector bytes = encode_jpeg(smooth_gray(30, 20), 90);
  expect_error(ErrorCode::io, "a.jpg: claims 30 x 20 pixels, over the limit of 599",
               [&] { decode_image<std::uint8_t>(bytes, "a.jpg", {.max_pixels = 599}); });
}

TEST(Jpeg, EncodesOnly8BitAndQualities1To100) {
  const auto wide = testing::random_image<std::uint16_t>(4, 4, 8);
  expect_error(ErrorCode::invalid_argument, "8-bit", [&] { encode_jpeg(wide, 90); });
  const auto gray = smooth_gray(4, 4);
  expect_error(ErrorCode::invalid_argument, "101", [&] { encode_jpeg(gray, 101); });
  expect_error(ErrorCode::invalid_argument, "quality of 0", [&] { encode_jpeg(gray, 0); });
}

TEST(Jpeg, ASideThatJpegCannotHoldIsAnErrorThatNamesTheFile) {
  const Image<std::uint8_t> image(70000, 1);
  std::fill_n(const_cast<std::uint8_t*>(image.host().data), 70000, std::uint8_t{9});
  const testing::TemporaryFolder folder;
  expect_error(ErrorCode::unsupported, "long.jpg: libjpeg cannot write it",
               [&] { write_image(folder / "long.jpg", image); });
  EXPECT_FALSE(std::filesystem::exists(folder / "long.jpg"));
}

}  // namespace
}  // namespace cornea
