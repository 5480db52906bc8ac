// SPDX-License-Identifier: Apache-2.0
// Text files of cells: their lines, each of bounded length, and the cells of a line.
//
// Cells are separated by commas, semicolons, tabs or spaces; a cell may stand in double quotes, ""
// in it is one.
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

// The lines of a stream. An error names the file and the line where one is longer than a MiB, and
// where all together are more bytes than are allowed.
class TextLines {
 public:
  TextLines(std::istream& in, const std::string& name, std::uint64_t most_bytes);

  // The next line, without what ends it and without a byte order mark; false where there is none.
  bool next(std::string_view& line);
  // The next one that is not blank.
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

// False where a quote has no end, or text behind it.
bool split(std::string_view line, char separator, Cells& cells);

}  // namespace cornea::io
