// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/text_lines.h"

#include <cerrno>
#include <cstring>
#include <istream>

#include "cornea/core/error.h"

namespace cornea::io {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;

}  // namespace

std::string_view trimmed(std::string_view text, const char* space) {
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

TextLines::TextLines(std::istream& in, const std::string& name, std::uint64_t most_bytes)
    : in_(in), name_(name), most_bytes_(most_bytes), buffer_(kLongestLine + 2) {}

bool TextLines::next(std::string_view& line) {
  if (!read()) return false;
  line = std::string_view(buffer_.data(), length_);
  if (number_ == 1) line = without_byte_order_mark(line);
  return true;
}

bool TextLines::next_with_text(std::string_view& line) {
  while (next(line)) {
    if (!trimmed(line, " \t\r").empty()) return true;
  }
  return false;
}

bool TextLines::read() {
  in_.getline(buffer_.data(), std::streamsize(buffer_.size()));
  const std::size_t taken = std::size_t(in_.gcount());
  if (in_.bad()) fail(ErrorCode::io, name_, ": cannot be read (", std::strerror(errno), ")");
  if (in_.eof() && taken == 0) return false;
  ++number_;
  bytes_ += taken;
  if (in_.fail() && !in_.eof()) {
    fail(ErrorCode::io, name_, ": line ", number_, " is longer than ", kLongestLine,
         " bytes; give a text file with one line per match");
  }
  if (bytes_ > most_bytes_) {
    fail(ErrorCode::io, name_, ": is larger than ", most_bytes_ >> 20,
         " MiB; split it into several files");
  }
  length_ = in_.eof() ? taken : taken - 1;
  return true;
}

char separator_of(std::string_view line) {
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == ',' || c == ';' || c == '\t')) return c;
  }
  return ' ';
}

bool split(std::string_view line, char separator, Cells& cells) {
  cells.clear();
  const char* const space = separator == '\t' ? " \r" : " \t\r";
  line = trimmed(line, space);
  for (bool more = true; more;) {
    line = line.substr(std::min(line.find_first_not_of(space), line.size()));
    std::string& cell = cells.emplace_back();
    if (line.starts_with('"')) {
      std::size_t at = 1;
      for (; at < line.size(); ++at) {
        if (line[at] == '"' && !line.substr(at + 1).starts_with('"')) break;
        if (line[at] == '"') ++at;
        cell += line[at];
      }
      if (at >= line.size()) return false;
      line.remove_prefix(at + 1);
      const std::size_t next = line.find_first_not_of(separator == ' ' ? "" : space);
      if (next != std::string_view::npos && line[next] != separator) return false;
      line.remove_prefix(std::min(next, line.size()));
    } else {
      const std::size_t end = std::min(line.find(separator), line.size());
      cell = trimmed(line.substr(0, end), space);
      line.remove_prefix(end);
    }
    more = !line.empty();
    if (more) line.remove_prefix(1);
  }
  return true;
}

}  // namespace cornea::io
