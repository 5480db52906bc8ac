#include "cornea/report/page.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "cornea/core/error.h"
#include "cornea/report/page_files.h"
#include "cornea/report/preview.h"

namespace cornea {
namespace {

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

// Floats of 4 bytes, the lowest first, for a Float32Array.
class Floats {
 public:
  void add(float v) {
    const auto bits = std::bit_cast<std::uint32_t>(v);
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(std::uint8_t(bits >> shift));
  }
  std::string json() const { return '"' + base64(bytes_) + '"'; }

 private:
  std::vector<std::uint8_t> bytes_;
};

// JSON knows no infinity.
std::string json_number(double v) {
  if (!std::isfinite(v)) return "null";
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr};
}

std::string json_matrix(const std::array<double, 9>& m) {
  std::string out = "[";
  for (std::size_t i = 0; i < 9; ++i) {
    out += i == 0 ? "[" : i % 3 == 0 ? "],[" : ",";
    out += json_number(m[i]);
  }
  return out + "]]";
}

std::size_t fewer(std::size_t count, std::size_t most) { return std::min(count, most); }

// x1, y1, x2, y2, ratio, distance (-1: none), inlier, number of the match.
std::string matches_json(const PairPage& page, const PageOptions& options) {
  Floats numbers;
  const std::size_t all = page.matches.size(), shown = fewer(all, options.most_matches);
  for (std::size_t k = 0; k < shown; ++k) {
    const std::size_t i = k * all / shown;
    const Match& m = page.matches[i];
    const Keypoint& a = page.first.points[std::size_t(m.a)];
    const Keypoint& b = page.second.points[std::size_t(m.b)];
    const float distance = page.distances.empty() ? -1 : page.distances[i];
    for (float v :
         {a.x, a.y, b.x, b.y, m.ratio, distance, float(page.geometry->inliers[i] != 0), float(i)}) {
      numbers.add(v);
    }
  }
  return numbers.json();
}

// x, y of the points that no match has; those with several angles once.
std::string others_json(std::span<const Keypoint> points, const std::vector<bool>& matched,
                        const PageOptions& options) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool again = i > 0 && points[i].x == points[i - 1].x && points[i].y == points[i - 1].y;
    if (!matched[i] && !again) others.push_back(i);
  }
  Floats numbers;
  const std::size_t shown = fewer(others.size(), options.most_other_points);
  for (std::size_t k = 0; k < shown; ++k) {
    const Keypoint& p = points[others[k * others.size() / shown]];
    numbers.add(p.x);
    numbers.add(p.y);
  }
  return numbers.json();
}

std::string photograph_json(const PagePhotograph& photograph, const std::string& others) {
  return text("{\"name\":", json_quoted(photograph.name), ",\"width\":", photograph.pixels.width,
              ",\"height\":", photograph.pixels.height, ",\"points\":", photograph.points.size(),
              ",\"others\":", others, "}");
}

// All that the page knows, but for the previews.
std::string data_json(const PairPage& page, const PageOptions& options) {
  const FundamentalResult& g = *page.geometry;
  std::vector<bool> first(page.first.points.size()), second(page.second.points.size());
  for (const Match& m : page.matches) {
    first[std::size_t(m.a)] = true;
    second[std::size_t(m.b)] = true;
  }
  const bool has_f = g.F != std::array<double, 9>{}, planar = g.kind == TwoView::planar;
  std::string out = "{\"photographs\":[";
  out += photograph_json(page.first, others_json(page.first.points, first, options)) + ",";
  out += photograph_json(page.second, others_json(page.second.points, second, options)) + "]";
  out += ",\"matches\":" + matches_json(page, options);
  out += text(",\"matchCount\":", page.matches.size(), ",\"inlierCount\":", g.inlier_count);
  out += ",\"kind\":" + json_quoted(name(g.kind));
  out += ",\"F\":" + (has_f ? json_matrix(g.F) : "null");
  out += ",\"H\":" + (planar ? json_matrix(g.H) : "null");
  out += ",\"threshold\":" + json_number(page.threshold);
  out += ",\"sentence\":" + json_quoted(page.sentence);
  out += text(",\"notice\":", page.notice ? "true" : "false");
  out += ",\"command\":" + json_quoted(page.command) + ",\"stages\":[";
  for (const StageTime& stage : page.stages) {
    out += text(&stage == page.stages.data() ? "" : ",", "[", json_quoted(stage.stage), ",",
                json_number(stage.milliseconds), "]");
  }
  out += "],\"facts\":[";
  for (const auto& fact : page.facts) {
    out += text(&fact == page.facts.data() ? "" : ",", "[", json_quoted(fact.first), ",",
                json_quoted(fact.second), "]");
  }
  return out + "]}";
}

std::string preview_uri(const Preview& preview) {
  return "data:image/jpeg;base64," + base64(preview.jpeg);
}

// The template with what stands for {{name}} put in, in one pass: nothing put in is looked at.
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
    if (part == parts.end()) fail(ErrorCode::internal, "page.html asks for {{", wanted, "}}");
    out += part->second;
    page.remove_prefix(close + 2);
  }
}

void check(const PairPage& page) {
  require(page.geometry != nullptr, "a page needs the geometry's result");
  require(!page.first.pixels.empty() && !page.second.pixels.empty(), "there is no image to show");
  require(page.geometry->inliers.size() == page.matches.size(), "the geometry is of ",
          page.geometry->inliers.size(), " matches, the page of ", page.matches.size());
  require(page.distances.empty() || page.distances.size() == page.matches.size(), "there are ",
          page.distances.size(), " distances for ", page.matches.size(), " matches");
  for (const Match& m : page.matches) {
    require(m.a >= 0 && std::size_t(m.a) < page.first.points.size() && m.b >= 0 &&
                std::size_t(m.b) < page.second.points.size(),
            "a match is of points ", m.a, " and ", m.b, ", which are not there");
  }
}

// The length of a UTF-8 character at the front; 0 where there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? std::uint8_t(text[i]) : 0u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  unsigned code = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

void PageOptions::validate() const {
  require(longest_side >= 64, "a preview of ", longest_side, " pixels is too small to look at");
  require(most_bytes >= 200000, "a page of ", most_bytes, " bytes has no room for its text");
}

std::string html_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(character.size());
    switch (character[0]) {
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
        out += length == 0 ? kReplacement : character;
    }
  }
  return out;
}

std::string json_quoted(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto c = std::uint8_t(text[0]);
    if (length == 0) {
      out += kReplacement;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += char(c);
    } else if (c < 0x20 || c == 0x7F || c == '<' || c == '>' || c == '&' || c == '\'') {
      out += "\\u00";
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + '"';
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto c = std::uint8_t(text[0]);
    if (length == 0 || c < 0x20 || c == 0x7F) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string pair_page(const Context& context, const PairPage& page, const PageOptions& options) {
  options.validate();
  check(page);
  const std::string data = data_json(page, options);
  const std::string title = html_escaped(page.first.name + " and " + page.second.name);
  const std::size_t fixed = data.size() + 2 * title.size() + page_files::page_html.size() +
                            page_files::page_css.size() + page_files::draw_js.size() +
                            page_files::point_js.size() + page_files::words_js.size();
  // Base64 writes 3 bytes as 4.
  const std::size_t left = options.most_bytes > fixed ? options.most_bytes - fixed : 0;
  const std::size_t each = left / 2 * 3 / 4 - std::min<std::size_t>(left / 4, 64);
  const auto preview = [&](const PagePhotograph& photograph) {
    return preview_uri(make_preview(context, photograph.pixels, options.longest_side, each));
  };
  const std::string first = preview(page.first), second = preview(page.second);
  return filled(page_files::page_html, {{"title", title},
                                        {"css", page_files::page_css},
                                        {"data", data},
                                        {"first", first},
                                        {"second", second},
                                        {"draw", page_files::draw_js},
                                        {"point", page_files::point_js},
                                        {"words", page_files::words_js}});
}

}  // namespace cornea
