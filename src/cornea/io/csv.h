// SPDX-License-Identifier: Apache-2.0
// Numbers as CSV text: one line of column names, then one line per row, cells separated by commas.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cornea::io {

// The double whose shortest decimal text is that of this float: 0.1f becomes 0.1.
double shortest(float value);
// The shortest text that reads back as the same float.
std::string shortest_text(float value);

// How numbers are written. Both forms read back as the same float.
enum class CsvNumbers {
  shortest,  // as few characters as possible: 1e+05, 3e-04
  plain,     // without an exponent from 0.0001 up to 1e9: 100000, 0.0003
};

class CsvWriter {
 public:
  // `columns` is the first line: the column names, separated by commas.
  explicit CsvWriter(std::string_view columns, CsvNumbers numbers = CsvNumbers::shortest);

  // Writes one cell per column; another number of cells is an error. A cell without a value is
  // empty.
  void row(std::initializer_list<std::optional<float>> cells);
  void row(std::span<const float> cells);

  const std::string& contents() const { return contents_; }

 private:
  template <class Cells>
  void add(const Cells& cells);

  std::size_t columns_;
  CsvNumbers numbers_;
  std::string contents_;
};

}  // namespace cornea::io
