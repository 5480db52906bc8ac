// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: a header that describes the table, then the numbers. Version 1.0 is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cornea::io {

// The contents of a file that holds a table of bytes (dtype uint8), row by row.
std::string encode_npy(std::size_t rows, std::size_t columns, std::span<const std::uint8_t> values);

// A table of uint8 or float32 numbers; float64 is rounded to float32. Only one of the two lists is
// filled.
struct NpyTable {
  std::size_t rows = 0, columns = 0;
  bool is_bytes = true;
  std::vector<std::uint8_t> bytes = {};
  std::vector<float> floats = {};
};

// Reads versions 1.0 to 3.0, two dimensions, row-major, in the machine's byte order. Any other
// content, a file that is shorter or longer than its header states, and floats that are not finite
// are errors whose message begins with the name of the file.
NpyTable decode_npy(std::span<const std::uint8_t> bytes, const std::string& name);
NpyTable read_npy(const std::filesystem::path& file);

}  // namespace cornea::io
