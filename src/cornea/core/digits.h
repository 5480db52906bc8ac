// Numbers as text of a fixed or least width, for names of files and for hashes.
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

// Filled up with zeros to `width` digits; a longer number stays whole.
inline std::string zero_padded(std::uint64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < width ? width - digits.size() : 0, '0') + digits;
}

}  // namespace cornea::core
