#include "cornea/io/matches_csv.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "cornea/core/error.h"

namespace cornea {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_comma(char c) { return c == ',' || c == ';'; }
bool is_separator(char c) { return is_space(c) || is_comma(c); }

// The first four numbers of a line; false where there are fewer, or something else, or nothing
// between two commas.
bool parse_line(const std::string& line, Correspondence& match) {
  float* const values[] = {&match.x1, &match.y1, &match.x2, &match.y2};
  const char* at = line.c_str();
  for (float* value : values) {
    while (is_space(*at)) ++at;
    if (value != &match.x1 && is_comma(*at)) ++at;
    if (is_comma(*at)) return false;
    char* end = nullptr;
    *value = std::strtof(at, &end);
    if (end == at || (*end && !is_separator(*end))) return false;
    at = end;
  }
  return true;
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t\r") == std::string::npos;
}

// Whether a first line can be the columns' names: no column of it is a number.
bool is_header(const std::string& line) {
  std::size_t begin = 0;
  while (begin < line.size()) {
    std::size_t end = begin;
    while (end < line.size() && !is_separator(line[end])) ++end;
    if (end > begin) {
      const std::string word = line.substr(begin, end - begin);
      char* parsed = nullptr;
      std::strtof(word.c_str(), &parsed);
      if (parsed == word.c_str() + word.size()) return false;
    }
    begin = end + 1;
  }
  return true;
}

}  // namespace

std::vector<Correspondence> read_matches_csv(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    fail(ErrorCode::io, file.string(), ": is a folder, not a file of correspondences");
  }
  std::ifstream in(file);
  if (!in) {
    fail(ErrorCode::io, file.string(), ": cannot be opened (", std::strerror(errno),
         "); check the path");
  }
  std::vector<Correspondence> matches;
  std::string line;
  bool first = true;
  for (int number = 1; std::getline(in, line); ++number) {
    if (first && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // a byte order mark
    if (is_blank(line)) continue;
    Correspondence match;
    if (parse_line(line, match)) {
      matches.push_back(match);
    } else if (!first || !is_header(line)) {
      fail(ErrorCode::io, file.string(), ": line ", number,
           " is not x1,y1,x2,y2: ", std::string_view(line).substr(0, 60));
    }
    first = false;
  }
  if (in.bad()) fail(ErrorCode::io, file.string(), ": cannot be read");
  return matches;
}

}  // namespace cornea
