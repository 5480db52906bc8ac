// SPDX-License-Identifier: Apache-2.0
// For tests of a folder: photographs with EXIF times and GPS positions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cornea/io/image_file.h"

namespace cornea::testing {

// A JPEG EXIF segment with the model Z9, the time ("2026:11:17 09:05:31"; empty: none) and the GPS
// position in seconds of arc north and east (both 0: none).
inline std::vector<std::uint8_t> exif_segment(const std::string& time, std::uint32_t north,
                                              std::uint32_t east) {
  std::vector<std::uint8_t> tiff = {'M', 'M', 0, 42, 0, 0, 0, 8};
  auto put = [&](std::uint32_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) tiff.push_back(std::uint8_t(value >> (8 * i)));
  };
  auto entry = [&](std::uint32_t tag, std::uint32_t type, std::uint32_t count,
                   std::uint32_t value) {
    put(tag, 2), put(type, 2), put(count, 4), put(value, 4);
  };
  constexpr std::uint32_t kMain = 8, kExif = kMain + 2 + 3 * 12 + 4, kGps = kExif + 2 + 12 + 4,
                          kData = kGps + 2 + 4 * 12 + 4;
  put(3, 2);
  entry(0x0110, 2, 3, 0x5A390000);
  entry(0x8769, 4, 1, kExif);
  entry(0x8825, 4, 1, kGps);
  put(0, 4), put(1, 2);
  entry(0x9003, 2, 20, kData);
  put(0, 4), put(4, 2);
  entry(1, 2, 2, std::uint32_t(north || east ? 'N' : '?') << 24);
  entry(2, 5, 3, kData + 20);
  entry(3, 2, 2, std::uint32_t('E') << 24);
  entry(4, 5, 3, kData + 44);
  put(0, 4);
  for (std::size_t i = 0; i < 20; ++i) put(i < time.size() ? std::uint8_t(time[i]) : 0, 1);
  for (const std::uint32_t seconds : {north, east}) {
    for (const std::uint32_t part : {seconds / 3600, seconds / 60 % 60, seconds % 60}) {
      put(part, 4), put(1, 4);
    }
  }
  const std::size_t length = tiff.size() + 8;
  std::vector<std::uint8_t> segment = {
      0xFF, 0xE1, std::uint8_t(length >> 8), std::uint8_t(length), 'E', 'x', 'i', 'f', 0, 0};
  segment.insert(segment.end(), tiff.begin(), tiff.end());
  return segment;
}

inline void write_taken_jpeg(const std::filesystem::path& file, const AnyView& image,
                             const std::string& time, std::uint32_t north = 0,
                             std::uint32_t east = 0) {
  std::vector<std::uint8_t> jpeg = encode_jpeg(image, 95);
  const std::vector<std::uint8_t> exif = exif_segment(time, north, east);
  jpeg.insert(jpeg.begin() + 2, exif.begin(), exif.end());
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(jpeg.data()), std::streamsize(jpeg.size()));
}

}  // namespace cornea::testing
