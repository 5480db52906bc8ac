// SPDX-License-Identifier: Apache-2.0
// A table of results with text, numbers with a unit, and empty cells; written as Markdown, as text
// for a terminal, as HTML and as JSON.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace cornea::study {

using Json = nlohmann::ordered_json;

// Formats of a column's numbers other than a number of decimals.
inline constexpr int kText = -1;  // the column holds text; integers in it are written unchanged
inline constexpr int kThreeDigits =
    -2;  // 0.012, 0.123, 1.23, 12.3, 1,234; <0.001 below half of that
inline constexpr int kScientific = -3;  // 1.2e-07

inline constexpr std::size_t kTerminalColumns = 100;  // line width of captions and paragraphs

struct Column {
  std::string name, unit = {};
  int decimals = kText;
};

// Text, a number, or nothing: Cell(), an empty optional, NaN.
class Cell {
 public:
  Cell() = default;
  Cell(const char* text) : value_(std::string(text)) {}
  Cell(std::string text) : value_(std::move(text)) {}
  template <class T>
  requires std::is_arithmetic_v<T> Cell(T number) {
    if (!std::isnan(double(number))) value_ = double(number);
  }
  template <class T>
  Cell(const std::optional<T>& value) {
    if (value) *this = Cell(*value);
  }

  bool is_missing() const { return std::holds_alternative<std::monostate>(value_); }
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const double* number() const { return std::get_if<double>(&value_); }

 private:
  std::variant<std::monostate, std::string, double> value_;
};

struct Table {
  std::string title = {};
  std::string caption = {};  // what was measured: units, sample sizes, devices
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};

  // One cell per column; another number of cells is an error.
  void add(std::vector<Cell> row);
};

// Columns of text.
std::vector<Column> text_columns(const std::vector<std::string>& names);

// A number in the format of its column, with commas between thousands.
std::string number_text(double value, int decimals);
// A cell as a table shows it; `missing` is shown if there is no value.
std::string cell_text(const Cell& cell, const Column& column, const std::string& missing);
// "median (ms)".
std::string heading_of(const Column& column);
// The key of a column in JSON: "median_ms".
std::string key_of(const Column& column);

// Splits words into lines of at most this many bytes, unless a word is longer.
std::vector<std::string> wrapped(const std::string& words, std::size_t most);

std::string markdown(const Table& table);
std::string terminal_text(const Table& table);
std::string html(const Table& table);
// {title, caption, columns: [{key, name, unit}], rows: [{key: value}]}, null for empty cells.
Json json_of(const Table& table);

}  // namespace cornea::study
