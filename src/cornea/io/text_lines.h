// SPDX-License-Identifier: Apache-2.0
// Text files of cells: their lines, each of limited length, and the cells of a line.
//
// Cells are separated by commas, semicolons, tabs or spaces. A cell may be enclosed in double
// quotes, inside which "" stands for one quote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace cornea::io {

using Cells = std::vector<std::string>;

std::string_view trimmed(std::string_view text, const char* space);

// The first line of a file without UTF-8's byte order mark, which programs of Windows write.
inline std::string_view without_byte_order_mark(std::string_view line) {
  return line.starts_with("\xEF\xBB\xBF") ? line.substr(3) : line;
}

// The lines of a stream. A line longer than 1 MiB and a stream of more than `most_bytes` are errors
// that name the file and the line.
class TextLines {
 public:
  TextLines(std::istream& in, const std::string& name, std::uint64_t most_bytes);

  // The next line, without its line break and without a byte order mark; false at the end.
  bool next(std::string_view& line);
  // The next line that is not blank.
  bool next_with_text(std::string_view& line);
  std::uint64_t number() const { return number_; }  // of the last line, from 1

 private:
  bool read();

  std::istream& in_;
  const std::string& name_;
  std::uint64_t most_bytes_;
  std::vector<char> buffer_;
  std::size_t length_ = 0;
  std::uint64_t number_ = 0, bytes_ = 0;
};

// The separator of the cells of a line: the first comma, semicolon or tab outside quotes, or
// spaces.
char separator_of(std::string_view line);

// Splits a line into cells; false if a quote is not closed or text follows the closing quote.
bool split(std::string_view line, char separator, Cells& cells);

}  // namespace cornea::io
