// NumPy's .npy files, version 1.0: a header that says what lies in it, and the numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cornea::io {

// The contents of a file with a table of bytes (dtype uint8), row by row.
std::string encode_npy(std::size_t rows, std::size_t columns, std::span<const std::uint8_t> values);

}  // namespace cornea::io
