// SPDX-License-Identifier: Apache-2.0
// The checksum of PNG chunks: CRC-32 as defined in the PNG specification.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace cornea::fuzz {

inline std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
  static const std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int k = 0; k < 8; ++k)
        table[i] = table[i] & 1 ? 0xedb88320u ^ table[i] >> 1 : table[i] >> 1;
    }
    return table;
  }();
  std::uint32_t crc = 0xffffffffu;
  for (const std::uint8_t byte : bytes) crc = kTable[(crc ^ byte) & 255] ^ crc >> 8;
  return ~crc;
}

inline std::uint32_t big_endian_32(std::span<const std::uint8_t> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

inline void put_big_endian_32(std::uint32_t value, std::uint8_t* to) {
  for (int i = 0; i < 4; ++i) to[i] = std::uint8_t(value >> (24 - 8 * i));
}

}  // namespace cornea::fuzz
