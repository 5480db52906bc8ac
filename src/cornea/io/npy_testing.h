// SPDX-License-Identifier: Apache-2.0
// For tests: valid and invalid .npy files, as NumPy and other programs write them.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "cornea/core/error.h"

namespace cornea::testing {

// A file with the given header before the values.
inline std::string npy(const std::string& header, const std::string& values, char version = 1) {
  std::string file = "\x93NUMPY";
  file += {version, '\0', char(header.size() % 256), char(header.size() / 256)};
  if (version > 1) file += {'\0', '\0'};
  return file + header + values;
}

// A table of bytes, floats, doubles or 64-bit integers, as numpy.save writes it.
template <class T>
std::string npy_table(std::size_t columns, const std::vector<T>& values) {
  const char* const type = sizeof(T) == 1              ? "|u1"
                           : std::is_same_v<T, float>  ? "<f4"
                           : std::is_same_v<T, double> ? "<f8"
                           : sizeof(T) == 8            ? "<i8"
                                                       : "<i4";
  return npy(text("{'descr': '", type, "', 'fortran_order': False, 'shape': (",
                  values.size() / columns, ", ", columns, "), }\n"),
             std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}

}  // namespace cornea::testing
