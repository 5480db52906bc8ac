// SPDX-License-Identifier: Apache-2.0
// Internal to io: the text headers of PNM and PFM, which are numbers separated by white space and #
// comments.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "cornea/io/decoded.h"

namespace cornea::io {

class HeaderReader {
 public:
  HeaderReader(const Source& source, std::string_view format, std::size_t position)
      : source_(source), format_(format), position_(position) {}

  std::uint64_t whole_number(std::string_view what) { return number<std::uint64_t>(what); }
  double real_number(std::string_view what) { return number<double>(what); }

  // The single white space that separates a header from binary pixels.
  void end_of_header() {
    if (!at_end() && current() == '#') skip_comment();
    if (at_end() || !is_space(current())) {
      fail_damaged(source_, format_, "the header does not end in white space");
    }
    ++position_;
  }

  void skip_space() {
    while (!at_end()) {
      if (current() == '#') {
        skip_comment();
      } else if (is_space(current())) {
        ++position_;
      } else {
        return;
      }
    }
  }

  bool at_end() const { return position_ >= source_.bytes.size(); }
  std::uint8_t current() const { return source_.bytes[position_]; }
  void advance() { ++position_; }
  Bytes rest() const { return source_.bytes.subspan(position_); }

  // Call this before memory for the pixels is allocated.
  void require_rest(std::uint64_t bytes) const {
    if (rest().size() >= bytes) return;
    fail_damaged(source_, format_,
                 text("the pixels need ", bytes, " bytes and ", rest().size(), " are there"));
  }

 private:
  static bool is_space(std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  void skip_comment() {  // up to the end of its line
    while (!at_end() && current() != '\n' && current() != '\r') ++position_;
  }

  // Something must follow a number: at the very end of a truncated file it may have lost digits.
  template <class Number>
  Number number(std::string_view what) {
    skip_space();
    const char* begin = reinterpret_cast<const char*>(source_.bytes.data()) + position_;
    const char* end = reinterpret_cast<const char*>(source_.bytes.data()) + source_.bytes.size();
    Number value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (stop == end) fail_damaged(source_, format_, text("it ends at or before ", what));
    if (error != std::errc()) fail_damaged(source_, format_, text("no number for ", what));
    position_ += static_cast<std::size_t>(stop - begin);
    return value;
  }

  const Source& source_;
  std::string_view format_;
  std::size_t position_;
};

}  // namespace cornea::io
