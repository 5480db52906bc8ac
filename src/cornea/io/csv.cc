// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/csv.h"

#include <algorithm>
#include <charconv>

#include "cornea/core/error.h"

namespace cornea::io {
namespace {

constexpr int kFloatDigits = 9;  // enough for every float to read back exactly

template <class Number, class... Format>
std::string number_text(Number value, Format... format) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, format...).ptr};
}

}  // namespace

double shortest(float value) {
  const std::string digits = number_text(value);
  double result = value;
  std::from_chars(digits.data(), digits.data() + digits.size(), result);
  return result;
}

std::string shortest_text(float value) { return number_text(value); }

CsvWriter::CsvWriter(std::string_view columns, CsvNumbers numbers)
    : columns_(std::size_t(std::count(columns.begin(), columns.end(), ',')) + 1),
      numbers_(numbers),
      contents_(columns) {
  contents_ += '\n';
}

template <class Cells>
void CsvWriter::add(const Cells& cells) {
  require(cells.size() == columns_, "a row of ", cells.size(), " cells does not fit ", columns_,
          " columns");
  const char* before = "";
  for (const std::optional<float> cell : cells) {
    contents_ += before;
    before = ",";
    if (!cell) continue;
    contents_ += numbers_ == CsvNumbers::shortest
                     ? number_text(*cell)
                     : number_text(shortest(*cell), std::chars_format::general, kFloatDigits);
  }
  contents_ += '\n';
}

void CsvWriter::row(std::initializer_list<std::optional<float>> cells) { add(cells); }
void CsvWriter::row(std::span<const float> cells) { add(cells); }

}  // namespace cornea::io
