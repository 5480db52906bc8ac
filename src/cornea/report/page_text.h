// Inside of report: how data and files become the text of a page.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace cornea::report {

using Json = nlohmann::ordered_json;

std::string base64(std::span<const std::uint8_t> bytes);

// JSON as it may stand in a <script> element: in ASCII, and without the one character that ends the
// element or begins a comment. Bytes that are not UTF-8 become U+FFFD.
std::string script_text(const Json& json);
// The text with U+FFFD in place of bytes that are not UTF-8, as in script_text: a name is the same
// everywhere on the page.
std::string as_utf8(std::string_view text);

// The template with what stands for {{name}} put in, in one pass: nothing put in is looked at.
std::string filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string_view>>& parts);

}  // namespace cornea::report
