// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, version 1.0: a header that says what lies in it, and the numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cornea::io {

// The contents of a file with a table of bytes (dtype uint8), row by row.
std::string encode_npy(std::size_t rows, std::size_t columns, std::span<const std::uint8_t> values);

// A table of uint8 or of float32 numbers, or of float64 rounded to these; one of the two lists is
// filled.
struct NpyTable {
  std::size_t rows = 0, columns = 0;
  bool is_bytes = true;
  std::vector<std::uint8_t> bytes = {};
  std::vector<float> floats = {};
};

// Versions 1.0 to 3.0, two dimensions, rows one after the other, numbers in the machine's order. Of
// anything else, of a file that is shorter or longer than its header says, and of floats that are
// not finite, the error begins with the name of the file.
NpyTable decode_npy(std::span<const std::uint8_t> bytes, const std::string& name);
NpyTable read_npy(const std::filesystem::path& file);

}  // namespace cornea::io
