// SPDX-License-Identifier: Apache-2.0
#include "cornea/report/page_text.h"

#include <algorithm>

#include "cornea/core/error.h"
#include "cornea/report/html.h"
#include "cornea/report/page_files.h"

namespace cornea::report {

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const std::uint32_t b1 = left > 1 ? bytes[i + 1] : 0, b2 = left > 2 ? bytes[i + 2] : 0;
    const std::uint32_t v = std::uint32_t(bytes[i]) << 16 | b1 << 8 | b2;
    out += kDigits[v >> 18];
    out += kDigits[v >> 12 & 63];
    out += left > 1 ? kDigits[v >> 6 & 63] : '=';
    out += left > 2 ? kDigits[v & 63] : '=';
  }
  return out;
}

Json stages_json(std::span<const StageTime> stages) {
  Json json = Json::array();
  for (const StageTime& s : stages) json.push_back(Json::array({s.stage, s.milliseconds}));
  return json;
}

std::string script_text(const Json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string as_utf8(std::string_view text) {
  return Json::parse(Json(text).dump(-1, ' ', true, Json::error_handler_t::replace));
}

std::string filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string_view>>& parts) {
  std::string out;
  while (true) {
    const std::size_t open = page.find("{{");
    out += page.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = page.find("}}", open);
    const std::string_view wanted = page.substr(open + 2, close - open - 2);
    const auto part =
        std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == wanted; });
    if (part == parts.end()) fail(ErrorCode::internal, "a page asks for {{", wanted, "}}");
    out += part->second;
    page.remove_prefix(close + 2);
  }
}

std::string framed(const PageText& page) {
  std::string scripts;
  for (const std::string_view script :
       {page_files::basics_js, page_files::theme_js, page_files::bars_js, page_files::rows_js,
        page_files::gestures_js}) {
    scripts.append(script).append("\n");
  }
  for (const std::string_view script : page.scripts) scripts.append(script).append("\n");
  const std::string css = std::string(page_files::page_css).append(page.css);
  const std::string policy =
      std::string("; img-src data:; script-src 'unsafe-inline'").append(page.sources);
  const std::string head =
      filled(page_files::head_html,
             {{"policy", policy}, {"title", page.title}, {"css", css}, {"kind", page.kind}});
  return filled(page_files::frame_html, {{"head", head},
                                         {"title", page.title},
                                         {"body", page.body},
                                         {"data", page.data},
                                         {"script", scripts},
                                         {"parts", page.parts}});
}

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : as_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

bool is_printable(std::string_view text) {
  const auto is_control = [](char c) { return std::uint8_t(c) < 0x20 || c == 0x7F; };
  return std::none_of(text.begin(), text.end(), is_control) && as_utf8(text) == text;
}

}  // namespace cornea::report
