// SPDX-License-Identifier: Apache-2.0
#include <webp/encode.h>

#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using testing::ByteVector;
using testing::expect_error;

ByteVector copied(std::uint8_t* data, std::size_t size) {
  ByteVector bytes(data, data + size);
  WebPFree(data);
  return bytes;
}

ByteVector lossless(const Image<Rgb<std::uint8_t>>& image) {
  std::uint8_t* data = nullptr;
  const std::size_t size =
      WebPEncodeLosslessRGB(reinterpret_cast<const std::uint8_t*>(image.host().data), image.width(),
                            image.height(), 3 * image.width(), &data);
  return copied(data, size);
}

ByteVector lossy(const Image<Rgb<std::uint8_t>>& image) {
  std::uint8_t* data = nullptr;
  const std::size_t size =
      WebPEncodeRGB(reinterpret_cast<const std::uint8_t*>(image.host().data), image.width(),
                    image.height(), 3 * image.width(), 90, &data);
  return copied(data, size);
}

TEST(Webp, ReadsLosslessPixelsExactly) {
  const auto image = testing::random_rgb<std::uint8_t>(33, 20, 1);
  testing::expect_same(decode_image<Rgb<std::uint8_t>>(lossless(image), "a.webp"), image);
}

TEST(Webp, DropsAlphaAndKeepsTheColourBeneath) {
  const ByteVector rgba = {10, 20, 30, 128, 200, 100, 50, 255};
  std::uint8_t* data = nullptr;
  const std::size_t size = WebPEncodeLosslessRGBA(rgba.data(), 2, 1, 8, &data);
  const ByteVector bytes = copied(data, size);
  const auto image = decode_image<Rgb<std::uint8_t>>(bytes, "a.webp");
  EXPECT_EQ(image(0, 0), (Rgb<std::uint8_t>{10, 20, 30}));
  EXPECT_EQ(image(1, 0), (Rgb<std::uint8_t>{200, 100, 50}));
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder / "a.webp", bytes);
  const ImageFileInfo info = probe_image(folder / "a.webp");
  EXPECT_EQ(info.format, "WebP");
  EXPECT_EQ(info.width, 2);
  EXPECT_EQ(info.height, 1);
  EXPECT_EQ(info.channels, 4);
  EXPECT_EQ(info.bits, 8);
}

TEST(Webp, DetectsEveryTruncation) {
  const auto image = testing::random_rgb<std::uint8_t>(33, 20, 2);
  testing::expect_cuts_are_found(lossless(image), 20, 3);
  const ByteVector bytes = lossy(image);
  testing::expect_cuts_are_found(bytes, 20, 4);
  const ByteVector all_but_one(bytes.begin(), bytes.end() - 1);
  expect_error(ErrorCode::io, "a.webp: the WebP data are damaged or cut short",
               [&] { decode_image<std::uint8_t>(all_but_one, "a.webp"); });
}

TEST(Webp, SurvivesNoise) {
  const auto image = testing::random_rgb<std::uint8_t>(12, 12, 5);
  testing::expect_noise_is_survived(lossless(image), 200, 6);
  testing::expect_noise_is_survived(lossy(image), 200, 7);
}

TEST(Webp, ChecksThePixelLimitAgainstTheHeader) {
  const ByteVector bytes = lossless(testing::random_rgb<std::uint8_t>(10, 10, 8));
  expect_error(ErrorCode::io, "a.webp: claims 10 x 10 pixels, over the limit of 99",
               [&] { decode_image<std::uint8_t>(bytes, "a.webp", {.max_pixels = 99}); });
}

TEST(Webp, IsNotWritten) {
  const testing::TemporaryFolder folder;
  const auto image = testing::random_image<std::uint8_t>(2, 2, 9);
  expect_error(ErrorCode::unsupported, "a.webp: no image format is written for",
               [&] { write_image(folder / "a.webp", image); });
}

}  // namespace
}  // namespace cornea
