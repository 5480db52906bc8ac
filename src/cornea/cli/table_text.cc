// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/table_text.h"

#include <algorithm>
#include <cstdio>

namespace cornea::cli {
namespace {

// Width in characters: counts the first bytes of UTF-8 sequences.
std::size_t width_of(const std::string& cell) {
  return std::size_t(std::count_if(cell.begin(), cell.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string milliseconds_text(double ms) {
  char buffer[32];
  const int digits = ms < 1 ? 3 : ms < 10 ? 2 : ms < 100 ? 1 : 0;
  std::snprintf(buffer, sizeof buffer, "%.*f ms", digits, ms);
  return buffer;
}

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace cornea::cli
