// SPDX-License-Identifier: Apache-2.0
// Numbers as text of a fixed or minimum width, for file names and hashes.
#pragma once

#include <cstdint>
#include <string>

namespace cornea::core {

// All 16 hexadecimal digits.
inline std::string hexadecimal(std::uint64_t number) {
  std::string digits(16, '0');
  for (std::size_t k = digits.size(); k-- > 0; number >>= 4) {
    digits[k] = "0123456789abcdef"[number & 15];
  }
  return digits;
}

// Padded with leading zeros to `width` digits; longer numbers are not truncated.
inline std::string zero_padded(std::uint64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < width ? width - digits.size() : 0, '0') + digits;
}

}  // namespace cornea::core
