// SPDX-License-Identifier: Apache-2.0
// NPY as Cornea writes it: any table is written, and its header is checked against NumPy's format
// specification. Reading NPY files of other programs is tested in points_csv.cc.
#include "cornea/io/npy.h"

#include <cstring>
#include <string>

#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cornea;
  using fuzz::must;
  if (size < 1) return 0;
  const std::size_t columns = data[0];
  const fuzz::Bytes values(data + 1, size - 1);
  std::string file;
  const std::size_t rows = columns == 0 ? values.size() : values.size() / columns;
  try {
    file = io::encode_npy(rows, columns, values);
  } catch (const Error& error) {
    must(error.code() == ErrorCode::invalid_argument && rows * columns != values.size(),
         "a table is refused where its values are too few or too many");
    return 0;
  }
  must(rows * columns == values.size(), "a table that is written has all its values");
  must(file.size() >= 10 && std::memcmp(file.data(), "\x93NUMPY\x01\0", 8) == 0, "the magic");
  const std::size_t length = std::uint8_t(file[8]) + 256 * std::size_t{std::uint8_t(file[9])};
  must((10 + length) % 64 == 0, "the values begin at a multiple of 64");
  must(file.size() == 10 + length + values.size(), "the values follow the header");
  const std::string header = file.substr(10, length);
  must(header.back() == '\n', "the header ends its line");
  must(header.find(text("'shape': (", rows, ", ", columns, ")")) != std::string::npos, "the shape");
  must(values.empty() || std::memcmp(file.data() + 10 + length, values.data(), values.size()) == 0,
       "the values are as they were");
  return 0;
}
