// SPDX-License-Identifier: Apache-2.0
// Internal to report: composes the text of a page from data and embedded files.
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

// Numbers for a typed array of the page, little-endian: Uint8Array, Uint16Array, Uint32Array,
// Float32Array.
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

// JSON that is safe in a <script> element: in ASCII, and without '<', which could end the
// element or begin a comment. Bytes that are not UTF-8 become U+FFFD.
std::string script_text(const Json& json);
// The text with U+FFFD in place of bytes that are not UTF-8, as in script_text, so that a name is
// the same everywhere on the page.
std::string as_utf8(std::string_view text);

// Replaces every {{name}} of the template in one pass, so that inserted text is not expanded again.
std::string filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string_view>>& parts);

// What differs between the pages of a pair and of a folder, which share a frame (page/frame.html).
struct PageText {
  std::string_view kind;     // "pair"
  std::string_view title;    // escaped by html_escaped()
  std::string_view css;      // of this page, in addition to page.css
  std::string_view body;     // contents of <main> after title and sentence
  std::string_view data;     // encoded by script_text()
  std::string_view sources;  // sources of scripts besides the page itself: " 'self' file:"
  std::string_view parts;    // further elements after the scripts
  // Scripts of this page, after those of all pages, each after those it uses.
  std::initializer_list<std::string_view> scripts;
};
std::string framed(const PageText& page);

}  // namespace cornea::report
