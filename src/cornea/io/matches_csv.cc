// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/matches_csv.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <istream>
#include <string_view>

#include "cornea/core/error.h"
#include "cornea/core/lower_case.h"
#include "cornea/io/text_lines.h"

namespace cornea {
namespace {

using core::in_lower_case;
using io::Cells;
using io::separator_of;
using io::split;
using io::trimmed;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMostMatches = 10'000'000;
// The longest side of an image; beyond it a float is off by more than 0.03 pixels.
constexpr float kLargestCoordinate = 1 << 20;
constexpr std::array<std::string_view, 4> kCoordinates = {"x1", "y1", "x2", "y2"};

bool parse_number(const std::string& cell, float& value) {
  char* end = nullptr;
  value = std::strtof(cell.c_str(), &end);
  return !cell.empty() && end == cell.c_str() + cell.size();
}

bool is_coordinate(const std::string& name) {
  const std::string small = in_lower_case(name);
  return std::find(kCoordinates.begin(), kCoordinates.end(), small) != kCoordinates.end();
}

// Whether a first line names the columns: at least one cell is a coordinate's name, or no cell is a
// number.
bool names_columns(const Cells& cells) {
  float unused = 0;
  return std::any_of(cells.begin(), cells.end(), is_coordinate) ||
         std::none_of(cells.begin(), cells.end(),
                      [&](const std::string& cell) { return parse_number(cell, unused); });
}

// Whether a first line holds column numbers 0,1,2,3 and so on, as pandas writes a table without
// column names. An empty cell for the index may precede them.
bool numbers_columns(const Cells& cells) {
  const std::size_t first = !cells.empty() && cells[0].empty() ? 1 : 0;
  if (cells.size() < first + kCoordinates.size()) return false;
  for (std::size_t i = first; i < cells.size(); ++i) {
    if (cells[i] != std::to_string(i - first)) return false;
  }
  return true;
}

// The names as a list for an error message, shortened if it is long.
std::string listed(const Cells& names) {
  constexpr std::size_t kLongest = 300;
  std::string list;
  for (const std::string& name : names) {
    if (list.size() > kLongest) return list + ", ...";
    if (!list.empty()) list += ", ";
    list += name.empty() ? std::string("(no name)") : name.substr(0, 60);
  }
  return list;
}

// A cell as CSV text, quoted if necessary.
std::string as_cell(const std::string& text) {
  if (text.find_first_of(",;\"\n\r\t ") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted += '"';
}

class MatchReader {
 public:
  MatchReader(std::istream& in, const std::string& name, bool keeps_text,
              std::span<const std::string> left_out)
      : lines_(in, name, kMostBytes), name_(name), keeps_text_(keeps_text) {
    for (const std::string& column : left_out) left_out_.push_back(in_lower_case(column));
  }

  MatchTable read() {
    std::string_view line;
    if (!lines_.next_with_text(line)) {
      table_.header = "x1,y1,x2,y2";
      return std::move(table_);
    }
    separator_ = separator_of(line);
    if (!read_names(line)) add_first_row(line);
    while (lines_.next_with_text(line)) add_row(line);
    if (!named_) finish_unnamed();
    return std::move(table_);
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail_at_line(const Parts&... parts) const {
    fail(ErrorCode::io, name_, ": line ", lines_.number(), " ", parts...);
  }

  void split_line(std::string_view line) {
    const bool usual = line.find(separator_) != std::string_view::npos;
    if (!split(line, usual ? separator_ : separator_of(line), cells_)) {
      fail_at_line("has a quoted cell without a closing quote or with text after it: ",
                   line.substr(0, 60));
    }
  }

  // Reads the first line if it names the columns; a # may precede the names, as NumPy writes it.
  bool read_names(std::string_view line) {
    const bool marked = trimmed(line, " \t\r").starts_with('#');
    if (marked) line.remove_prefix(line.find('#') + 1);
    split_line(line);
    for (std::string& cell : cells_) cell = std::string(trimmed(cell, " \t"));
    if (!names_columns(cells_)) {
      if (marked) fail_at_line("begins with #; remove it, or name the columns x1,y1,x2,y2 there");
      return false;
    }
    named_ = true;
    columns_ = cells_.size();
    place_coordinates();
    kept_.clear();
    for (std::size_t i = 0; i < columns_; ++i) {
      if (is_kept(cells_[i])) kept_.push_back(i);
    }
    table_.header = text_of_row();
    return true;
  }

  bool is_kept(const std::string& column) const {
    return is_coordinate(column) ||
           std::find(left_out_.begin(), left_out_.end(), in_lower_case(column)) == left_out_.end();
  }

  void place_coordinates() {
    std::string missing;
    for (std::size_t i = 0; i < kCoordinates.size(); ++i) {
      const auto is_it = [&](const std::string& cell) {
        return in_lower_case(cell) == kCoordinates[i];
      };
      const auto found = std::find_if(cells_.begin(), cells_.end(), is_it);
      if (found == cells_.end()) {
        if (!missing.empty()) missing += ", ";
        missing += kCoordinates[i];
        continue;
      }
      if (std::find_if(found + 1, cells_.end(), is_it) != cells_.end()) {
        fail_at_line("names ", kCoordinates[i], " twice; the columns are ", listed(cells_),
                     "; give each coordinate one column");
      }
      places_[i] = std::size_t(found - cells_.begin());
    }
    if (!missing.empty()) {
      fail_at_line("names the columns ", listed(cells_), ", and ", missing,
                   missing.size() > 2 ? " are" : " is",
                   " not among them; name the coordinates x1, y1, x2 and y2");
    }
  }

  // A single line may be a match, even if it looks like column numbers.
  void add_first_row(std::string_view line) {
    if (!numbers_columns(cells_)) return add_row(line);
    const std::string first(line);  // a copy, since reading the next line overwrites it
    const std::uint64_t number = lines_.number();
    if (!lines_.next_with_text(line)) return add_row(first);
    fail(ErrorCode::io, name_, ": line ", number, " is ", first.substr(0, 60),
         ", which looks like column numbers, not like a match; name the "
         "columns there (x1,y1,x2,y2), or remove the line");
  }

  void add_row(std::string_view line) {
    if (table_.matches.size() == kMostMatches) {
      fail_at_line("exceeds the limit of ", kMostMatches, " matches; split the file");
    }
    split_line(line);
    if (named_) {
      while (cells_.size() > columns_ && cells_.back().empty()) cells_.pop_back();
      if (cells_.size() != columns_) {
        fail_at_line("has ", cells_.size(), " cells where line 1 names ", columns_,
                     " columns: ", line.substr(0, 60));
      }
    } else if (cells_.size() < kCoordinates.size()) {
      fail_at_line("is not x1,y1,x2,y2: ", line.substr(0, 60));
    }
    Correspondence match;
    float* const values[] = {&match.x1, &match.y1, &match.x2, &match.y2};
    for (std::size_t i = 0; i < kCoordinates.size(); ++i) {
      const std::string& cell = cells_[places_[i]];
      if (!parse_number(cell, *values[i])) {
        fail_at_line("has no number for ", kCoordinates[i], " but '", cell.substr(0, 60),
                     "'; give x1,y1,x2,y2 on each line, or name the columns in the first line");
      }
      if (!std::isfinite(*values[i])) {
        fail_at_line("has ", cell.substr(0, 60), " for ", kCoordinates[i],
                     ", which is not a finite number; remove the line");
      }
      if (std::abs(*values[i]) > kLargestCoordinate) {
        fail_at_line(
            "has ", cell.substr(0, 60), " for ", kCoordinates[i],
            "; no image has so many pixels, and single precision is too coarse for it: "
            "subtract an offset from that column (and from cx or cy of a camera), or remove "
            "the line");
      }
    }
    const float number = float(table_.matches.size());
    from_zero_ &= match.x1 == number;
    from_one_ &= match.x1 == number + 1;
    rising_ &= match.x1 == std::floor(match.x1) &&
               (table_.matches.empty() || match.x1 > table_.matches.back().x1);
    fractions_ |= match.y1 != std::floor(match.y1);
    fewest_ = std::min(fewest_, cells_.size());
    table_.matches.push_back(match);
    if (!keeps_text_) return;
    if (!named_) {
      while (kept_.size() < cells_.size()) kept_.push_back(kept_.size());
      cells_.resize(kept_.size());
    }
    table_.rows.push_back(text_of_row());
    if (!named_) widths_.push_back(std::uint32_t(kept_.size()));
  }

  std::string text_of_row() const {
    std::string row;
    for (const std::size_t i : kept_) {
      if (i != kept_.front()) row += ',';
      row += as_cell(cells_[i]);
    }
    return row;
  }

  void finish_unnamed() {
    const std::size_t rows = table_.matches.size();
    // A table from which rows were removed keeps the original row numbers.
    constexpr std::size_t kFewestRising = 8;
    const bool numbers_of_rows = rising_ && fractions_ && rows >= kFewestRising;
    if (rows > 1 && fewest_ > kCoordinates.size() && (from_zero_ || from_one_ || numbers_of_rows)) {
      fail(ErrorCode::io, name_, ": the first of its ", fewest_, " columns ",
           from_zero_  ? "counts 0, 1, 2, ..."
           : from_one_ ? "counts 1, 2, 3, ..."
                       : "holds rising whole numbers",
           " and looks like an index, not like x1; add a first line that names the columns, for "
           "example index,x1,y1,x2,y2");
    }
    table_.header = "x1,y1,x2,y2";
    for (std::size_t i = kCoordinates.size(); i < kept_.size(); ++i) {
      table_.header += text(",column", i + 1);
    }
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      table_.rows[i].append(kept_.size() - widths_[i], ',');
    }
  }

  io::TextLines lines_;
  const std::string& name_;
  bool keeps_text_;
  Cells left_out_;
  char separator_ = ',';
  bool named_ = false;
  std::array<std::size_t, 4> places_ = {0, 1, 2, 3};
  std::size_t columns_ = 0;
  std::vector<std::size_t> kept_;  // indices of the columns in MatchTable::rows
  Cells cells_;
  bool from_zero_ = true, from_one_ = true;
  bool rising_ = true,
       fractions_ = false;  // whether x1 holds rising whole numbers; whether y1 has fractions
  std::size_t fewest_ = SIZE_MAX;
  std::vector<std::uint32_t> widths_;  // cells per row, used if the columns have no names
  MatchTable table_;
};

std::ifstream opened(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    fail(ErrorCode::io, file.string(), ": is a folder; name a file of correspondences");
  }
  std::ifstream in(file);
  if (!in) {
    fail(ErrorCode::io, file.string(), ": cannot be opened (", std::strerror(errno),
         "); check the path");
  }
  return in;
}

}  // namespace

std::vector<Correspondence> read_matches_csv(const std::filesystem::path& file) {
  std::ifstream in = opened(file);
  const std::string name = file.string();
  return std::move(MatchReader(in, name, false, {}).read().matches);
}

MatchTable read_match_table(const std::filesystem::path& file,
                            std::span<const std::string> left_out) {
  std::ifstream in = opened(file);
  return read_match_table(in, file.string(), left_out);
}

MatchTable read_match_table(std::istream& in, const std::string& name,
                            std::span<const std::string> left_out) {
  return MatchReader(in, name, true, left_out).read();
}

}  // namespace cornea
