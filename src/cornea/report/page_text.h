// Inside of report: how data and files become the text of a page.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cornea/core/stage_time.h"

namespace cornea::report {

using Json = nlohmann::ordered_json;

std::string base64(std::span<const std::uint8_t> bytes);

// Numbers for a typed array of the page, the lowest byte first: Uint8Array, Uint16Array,
// Uint32Array, Float32Array.
class Column {
 public:
  void add(std::uint8_t v) { bytes_.push_back(v); }
  void add(std::uint16_t v) { add_bytes(v); }
  void add(std::uint32_t v) { add_bytes(v); }
  void add(float v) { add_bytes(std::bit_cast<std::uint32_t>(v)); }
  std::string encoded() const { return base64(bytes_); }

 private:
  template <class T>
  void add_bytes(T v) {
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(std::uint8_t(v >> (8 * i)));
  }
  std::vector<std::uint8_t> bytes_;
};

// [[name, milliseconds], ...]
Json stages_json(std::span<const StageTime> stages);

// JSON as it may stand in a <script> element: in ASCII, and without the one character that ends the
// element or begins a comment. Bytes that are not UTF-8 become U+FFFD.
std::string script_text(const Json& json);
// The text with U+FFFD in place of bytes that are not UTF-8, as in script_text: a name is the same
// everywhere on the page.
std::string as_utf8(std::string_view text);

// The template with what stands for {{name}} put in, in one pass: nothing put in is looked at.
std::string filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string_view>>& parts);

// What differs between the pages of a pair and of a folder, in the frame that they share
// (page/frame.html).
struct PageText {
  std::string_view kind;     // "pair"
  std::string_view title;    // as html_escaped() gives it
  std::string_view css;      // of this page, beside page.css
  std::string_view body;     // what <main> holds after title and sentence
  std::string_view data;     // as script_text() gives it
  std::string_view sources;  // from where scripts may come, beside the page itself: " 'self' file:"
  std::string_view parts;    // further elements after the scripts
  // Of this page, after those of all pages, in the order in which they use each other.
  std::initializer_list<std::string_view> scripts;
};
std::string framed(const PageText& page);

}  // namespace cornea::report
