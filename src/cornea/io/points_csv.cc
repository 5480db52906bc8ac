// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/points_csv.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include "cornea/core/error.h"
#include "cornea/core/lower_case.h"
#include "cornea/io/text_lines.h"

namespace cornea::io {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"x", "y", "scale", "angle", "response"};
constexpr std::size_t kMostPoints = 10'000'000;

std::string_view trimmed(std::string_view cell) {
  const std::size_t begin = cell.find_first_not_of(" \t\r\"");
  if (begin == std::string_view::npos) return {};
  return cell.substr(begin, cell.find_last_not_of(" \t\r\"") + 1 - begin);
}

void split(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
}

// The cell index of each known column.
using Places = std::array<std::optional<std::size_t>, kNames.size()>;
Places places_of(const std::vector<std::string_view>& cells, const std::string& name) {
  Places places;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = core::in_lower_case(std::string(cells[i]));
    for (std::size_t k = 0; k < kNames.size(); ++k) {
      if (cell != kNames[k]) continue;
      if (places[k]) fail(ErrorCode::io, name, ": line 1 names ", kNames[k], " twice");
      places[k] = i;
    }
  }
  if (!places[0] || !places[1]) {
    fail(ErrorCode::io, name,
         ": line 1 does not name the columns x and y; it should begin with a line like "
         "x,y,scale,angle,response, of which the last three may be missing");
  }
  return places;
}

float number_of(std::string_view cell, std::string_view column, const std::string& name,
                std::size_t line) {
  double value = 0;
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) {
    fail(ErrorCode::io, name, ": line ", line, " has no number for ", column, " but '",
         cell.substr(0, 60), "'");
  }
  if (!std::isfinite(float(value))) {
    fail(ErrorCode::io, name, ": line ", line, " has ", cell.substr(0, 60), " for ", column,
         ", which is not a finite number; remove the line");
  }
  return float(value);
}

}  // namespace

PointTable read_points_csv(std::istream& in, const std::string& name) {
  std::string line;
  std::vector<std::string_view> cells;
  if (!std::getline(in, line)) {
    fail(ErrorCode::io, name,
         ": is empty; its first line should name the columns, for example x,y");
  }
  split(without_byte_order_mark(line), cells);
  const Places places = places_of(cells, name);
  const std::size_t columns = cells.size();
  PointTable table;
  table.has_response = places[4].has_value();
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    if (trimmed(line).empty()) continue;
    split(line, cells);
    if (cells.size() != columns) {
      fail(ErrorCode::io, name, ": line ", number, " has ", cells.size(),
           " cells where line 1 names ", columns, " columns");
    }
    if (table.points.size() == kMostPoints) {
      fail(ErrorCode::io, name, ": holds more than ", kMostPoints, " points");
    }
    Keypoint point;
    float* const values[] = {&point.x, &point.y, &point.scale, &point.angle, &point.response};
    for (std::size_t k = 0; k < kNames.size(); ++k) {
      if (places[k]) *values[k] = number_of(cells[*places[k]], kNames[k], name, number);
    }
    table.points.push_back(point);
  }
  if (in.bad()) fail(ErrorCode::io, name, ": cannot be read (", std::strerror(errno), ")");
  return table;
}

PointTable read_points_csv(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file, ignored)) {
    fail(ErrorCode::io, file.string(), ": cannot be opened as a file of points; check the path");
  }
  return read_points_csv(in, file.string());
}

}  // namespace cornea::io
