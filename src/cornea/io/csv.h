// SPDX-License-Identifier: Apache-2.0
// Numbers as CSV text: a line of column names, then a line per row, with commas between the cells.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cornea::io {

// The double that is written with as few digits as this float: 0.1f becomes 0.1.
double shortest(float value);
// Its text: in as few characters as read back as the same float.
std::string shortest_text(float value);

// How a number is written. Both read back as the same float.
enum class CsvNumbers {
  shortest,  // in as few characters as can be: 1e+05, 3e-04
  plain,     // without an exponent from 0.0001 up to 1e9: 100000, 0.0003
};

class CsvWriter {
 public:
  // `columns` are the names with commas between them: the first line.
  explicit CsvWriter(std::string_view columns, CsvNumbers numbers = CsvNumbers::shortest);

  // A cell per column, else an error. A cell without a value stays empty.
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
