// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/shell_words.h"

#include <cstdio>
#include <cstring>

#include "cornea/report/html.h"

namespace cornea::cli {
namespace {

// Quotes a word for a shell. Bytes that a page cannot show are written as escapes of bash and zsh
// ($'\x..').
std::string shell_quoted(const std::string& word) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  if (!report::is_printable(word)) {
    std::string escaped = "$'";
    for (const char c : word) {
      char number[8];
      std::snprintf(number, sizeof number, "\\x%02x", static_cast<unsigned char>(c));
      escaped += std::strchr(plain, c) ? std::string(1, c) : number;
    }
    return escaped + "'";
  }
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

}  // namespace cornea::cli
