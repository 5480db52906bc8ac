// SPDX-License-Identifier: Apache-2.0
#include "study/table.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "cornea/cli/table_text.h"
#include "cornea/core/error.h"
#include "cornea/report/html.h"

namespace cornea::study {
namespace {

std::string with_commas(std::string number) {
  const std::size_t begin = number[0] == '-' ? 1 : 0;
  const std::size_t dot = std::min(number.find('.'), number.size());
  for (std::size_t i = dot; i > begin + 3; i -= 3) number.insert(i - 3, ",");
  return number;
}

std::string printed(const char* format, int digits, double value) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, format, digits, value);
  return buffer;
}

// A bar would end the cell, a line break the row.
std::string markdown_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

bool is_left(const Column& column) { return column.decimals == kText; }

}  // namespace

void Table::add(std::vector<Cell> row) {
  if (row.size() != columns.size()) {
    fail(ErrorCode::internal, "the table '", title, "' has ", columns.size(), " columns and got ",
         row.size(), " cells");
  }
  rows.push_back(std::move(row));
}

std::vector<Column> text_columns(const std::vector<std::string>& names) {
  std::vector<Column> columns;
  for (const std::string& name : names) columns.push_back({name});
  return columns;
}

std::string number_text(double value, int decimals) {
  if (!std::isfinite(value)) return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  if (decimals == kScientific) return printed("%.*e", 1, value);
  if (decimals == kText) {
    return value == std::floor(value) && std::abs(value) < 1e15
               ? with_commas(printed("%.*f", 0, value))
               : printed("%.*g", 6, value);
  }
  if (decimals >= 0) return with_commas(printed("%.*f", decimals, value));
  if (value == 0) return "0";
  // After rounding to three digits, so that 9.996 becomes 10.0 and not 10.00.
  const double rounded = std::stod(printed("%.*e", 2, value));
  const int before = int(std::floor(std::log10(std::abs(rounded)))) + 1;
  if (before <= 0) return value > 0 && value < 0.0005 ? "<0.001" : printed("%.*f", 3, value);
  return with_commas(printed("%.*f", std::max(0, 3 - before), value));
}

std::string cell_text(const Cell& cell, const Column& column, const std::string& missing) {
  if (cell.is_missing()) return missing;
  return cell.text() ? *cell.text() : number_text(*cell.number(), column.decimals);
}

std::string heading_of(const Column& column) {
  return column.unit.empty() ? column.name : column.name + " (" + column.unit + ")";
}

std::string key_of(const Column& column) {
  std::string key;
  const std::string words = column.unit.empty() ? column.name : column.name + "_" + column.unit;
  for (const char c : words) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      key += char(std::tolower(static_cast<unsigned char>(c)));
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  while (!key.empty() && key.back() == '_') key.pop_back();
  return key;
}

std::vector<std::string> wrapped(const std::string& words, std::size_t most) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    if (!line.empty() && line.size() + 1 + word.size() > most) {
      lines.push_back(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string markdown(const Table& table) {
  std::string out;
  if (!table.title.empty()) out += "**" + markdown_escaped(table.title) + "**\n\n";
  std::string rule;
  for (const Column& column : table.columns) {
    out += "| " + markdown_escaped(heading_of(column)) + " ";
    rule += is_left(column) ? "|---" : "|---:";
  }
  out += "|\n" + rule + "|\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += "| " + markdown_escaped(cell_text(row[i], table.columns[i], "–")) + " ";
    }
    out += "|\n";
  }
  if (!table.caption.empty()) out += "\n" + table.caption + "\n";
  return out;
}

std::string terminal_text(const Table& table) {
  std::vector<std::vector<std::string>> rows(1);
  for (const Column& column : table.columns) rows[0].push_back(heading_of(column));
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      rows.back().push_back(cell_text(row[i], table.columns[i], "-"));
    }
  }
  std::string out;
  if (!table.title.empty()) out += table.title + "\n";
  out += cli::table_text(rows);
  for (const std::string& line : wrapped(table.caption, kTerminalColumns)) out += line + "\n";
  return out;
}

std::string html(const Table& table) {
  using report::html_escaped;
  std::string out = "<figure class=\"table-figure\">\n";
  if (!table.title.empty()) out += "<h3>" + html_escaped(table.title) + "</h3>\n";
  out += "<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers\">\n<thead><tr>";
  auto opening = [&](const char* tag, std::size_t i) {
    return std::string("<") + tag + (is_left(table.columns[i]) ? " class=\"left\">" : ">");
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    out += opening("th", i) + html_escaped(column.name);
    if (!column.unit.empty()) out += " <small>" + html_escaped(column.unit) + "</small>";
    out += "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += opening("td", i) + html_escaped(cell_text(row[i], table.columns[i], "–")) + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (!table.caption.empty()) {
    out += "<figcaption>" + html_escaped(table.caption) + "</figcaption>\n";
  }
  return out + "</figure>\n";
}

Json json_of(const Table& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const Column& column : table.columns) {
    columns.push_back({{"key", key_of(column)}, {"name", column.name}, {"unit", column.unit}});
  }
  for (const auto& row : table.rows) {
    Json cells = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      Json& cell = cells[key_of(table.columns[i])];
      if (row[i].text()) cell = *row[i].text();
      if (row[i].number()) cell = *row[i].number();
    }
    rows.push_back(std::move(cells));
  }
  return {{"title", table.title},
          {"caption", table.caption},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)}};
}

}  // namespace cornea::study
