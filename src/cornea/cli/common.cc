#include "cornea/cli/common.h"

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "cornea/core/error.h"

namespace cornea::cli {

Context CommonOptions::context() const {
  return usage_checked([&] { return Context::from_name(device, threads); });
}

void CommonOptions::write_json(const Json& value) const {
  if (json.empty()) return;
  // File names need not be valid UTF-8; what is not is replaced.
  const std::string out =
      value.dump(json == "-" ? 1 : 2, ' ', false, Json::error_handler_t::replace);
  if (json == "-") {
    std::cout << out << std::endl;
  } else {
    write_text(json, out + "\n");
  }
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  command.add_option("--device", options.device, "auto, cpu, cuda or cuda:N")
      ->capture_default_str();
  command.add_option("--threads", options.threads, "CPU threads; 0: all")->capture_default_str();
  command
      .add_option("--json", options.json, "write the result as JSON to FILE; - for standard output")
      ->type_name("FILE");
  command.add_flag("--quiet,-q", options.quiet, "say nothing but errors");
}

void add_reading_options(CLI::App& command, CommonOptions& options) {
  command.add_option("--max-pixels", options.max_pixels, "refuse images that claim more pixels")
      ->capture_default_str();
}

void write_text(const std::filesystem::path& file, const std::string& contents) {
  std::ofstream out(file, std::ios::binary);
  out << contents;
  out.close();
  if (!out) {
    fail(ErrorCode::io, file.string(),
         ": cannot be written; check that its folder exists and has room");
  }
}

double shortest(float value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  double result = value;
  if (error == std::errc()) std::from_chars(buffer, end, result);
  return result;
}

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
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace cornea::cli
