// SPDX-License-Identifier: Apache-2.0
// WebP files, made with libwebp: lossy, lossless, with alpha, and in the extended container with
// EXIF.
#include <webp/encode.h>

#include "fuzz/seeds.h"

namespace cornea::fuzz {
namespace {

constexpr int kWidth = 18, kHeight = 10;

ByteVector copied(std::uint8_t* data, std::size_t size) {
  const ByteVector bytes(data, data + size);
  WebPFree(data);
  return bytes;
}

void put_little_endian_32(std::size_t value, ByteVector& to) {
  for (int i = 0; i < 4; ++i) to.push_back(std::uint8_t(value >> 8 * i));
}

void put_chunk(const std::string& name, const ByteVector& data, ByteVector& to) {
  to.insert(to.end(), name.begin(), name.end());
  put_little_endian_32(data.size(), to);
  append(to, data);
  if (data.size() % 2 == 1) to.push_back(0);
}

// Wraps the chunk of a simple file in an extended one whose header announces EXIF.
ByteVector with_exif(const ByteVector& simple, const ByteVector& exif) {
  constexpr std::uint8_t kHasExif = 8;
  ByteVector chunks = {'W', 'E', 'B', 'P'};
  put_chunk("VP8X", {kHasExif, 0, 0, 0, kWidth - 1, 0, 0, kHeight - 1, 0, 0}, chunks);
  chunks.insert(chunks.end(), simple.begin() + 12, simple.end());
  put_chunk("EXIF", exif, chunks);
  ByteVector file;
  put_chunk("RIFF", chunks, file);
  return file;
}

}  // namespace

void add_webp_seeds(Seeds& seeds) {
  const ByteVector rgba = pattern(4 * kWidth * kHeight);
  std::uint8_t* data = nullptr;
  std::size_t size = WebPEncodeRGB(rgba.data(), kWidth, kHeight, 3 * kWidth, 60, &data);
  const ByteVector lossy = copied(data, size);
  seeds.add_and_damaged("webp", "lossy", lossy);
  size = WebPEncodeRGBA(rgba.data(), kWidth, kHeight, 4 * kWidth, 60, &data);
  seeds.add("webp", "lossy_alpha", copied(data, size));
  size = WebPEncodeLosslessRGB(rgba.data(), kWidth, kHeight, 3 * kWidth, &data);
  seeds.add_and_damaged("webp", "lossless", copied(data, size));
  size = WebPEncodeLosslessRGBA(rgba.data(), kWidth, kHeight, 4 * kWidth, &data);
  seeds.add("webp", "lossless_alpha", copied(data, size));
  const ByteVector turned = with_exif(lossy, camera_exif(false, 7));
  seeds.add("webp", "exif", turned);
  seeds.add("exif", "webp", turned);
}

}  // namespace cornea::fuzz
