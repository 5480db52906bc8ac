// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/common.h"

namespace cornea::cli {
namespace {

// File names need not be valid UTF-8; invalid bytes are replaced.
std::string compact(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add(const Json& value, std::size_t depth, std::string& out) {
  bool in_lines = value.is_object() && !value.empty();
  if (value.is_array()) {
    for (const Json& item : value) in_lines |= item.is_structured();
  }
  if (!value.is_structured() || value.empty()) {
    out += compact(value);
    return;
  }
  const std::string line = in_lines ? "\n" + std::string(2 * (depth + 1), ' ') : "";
  const char* before = "";
  out += value.is_object() ? '{' : '[';
  for (const auto& [key, item] : value.items()) {
    out += before;
    out += line;
    before = in_lines ? "," : ", ";
    if (value.is_object()) out += compact(Json(key)) + ": ";
    add(item, depth + 1, out);
  }
  if (in_lines) out += "\n" + std::string(2 * depth, ' ');
  out += value.is_object() ? '}' : ']';
}

}  // namespace

std::string json_text(const Json& value) {
  std::string out;
  add(value, 0, out);
  return out += '\n';
}

}  // namespace cornea::cli
