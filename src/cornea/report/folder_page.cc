// SPDX-License-Identifier: Apache-2.0
#include "cornea/report/folder_page.h"

#include <algorithm>
#include <cmath>

#include "cornea/core/digits.h"
#include "cornea/core/error.h"
#include "cornea/io/content_hash.h"
#include "cornea/report/graph_layout.h"
#include "cornea/report/html.h"
#include "cornea/report/page_files.h"
#include "cornea/report/page_text.h"

namespace cornea {
namespace {

using namespace report;

template <class T, class Rows, class Value>
std::string column_of(const Rows& rows, Value&& value) {
  Column column;
  for (const auto& row : rows) column.add(T(value(row)));
  return column.encoded();
}

// A fraction of 0 to 1 as 16 bits.
std::uint16_t share16(double share) {
  return std::uint16_t(
      std::lround(std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * 65535));
}

// Base64 writes 3 bytes as 4, and a line has 8 bytes.
constexpr std::size_t kLineBytes = 11;

// The maximum number of lines per pair such that all together take at most `most_bytes`.
std::size_t lines_per_pair(const FolderPage& page, std::size_t most_bytes) {
  const auto fits = [&](std::size_t most) {
    std::size_t lines = 0;
    for (const FolderPagePair& pair : page.pairs) lines += std::min(most, pair.lines.size());
    return lines * kLineBytes <= most_bytes;
  };
  std::size_t low = 0, high = 1;
  for (const FolderPagePair& pair : page.pairs) high = std::max(high, pair.lines.size() + 1);
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// The lines of consecutive pairs: where those of each pair end, and their coordinates as fractions
// of the image sides. The left edge of the first pixel is at -0.5.
struct Lines {
  Column ends, places;
  std::uint32_t count = 0;

  void add(const FolderPage& page, const FolderPagePair& pair, std::size_t most) {
    const FolderPageImage& a = page.images[std::size_t(pair.first)];
    const FolderPageImage& b = page.images[std::size_t(pair.second)];
    const bool sized = a.width > 0 && a.height > 0 && b.width > 0 && b.height > 0;
    const std::size_t all = pair.lines.size(), shown = sized ? std::min(all, most) : 0;
    for (std::size_t k = 0; k < shown; ++k) {
      const std::array<float, 4>& line = pair.lines[k * all / shown];
      places.add(share16((line[0] + 0.5) / a.width));
      places.add(share16((line[1] + 0.5) / a.height));
      places.add(share16((line[2] + 0.5) / b.width));
      places.add(share16((line[3] + 0.5) / b.height));
    }
    count += std::uint32_t(shown);
    ends.add(count);
  }
  Json json() const { return {{"ends", ends.encoded()}, {"places", places.encoded()}}; }
};

// The contents of further files, and for each the first image or pair that it holds.
struct Parts {
  std::vector<int> firsts;
  std::vector<Json> contents;
};

Parts thumbnail_parts(const FolderPage& page, std::size_t most_bytes) {
  Parts parts;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < page.images.size(); ++i) {
    if (i == 0 || bytes > most_bytes) {
      parts.firsts.push_back(int(i));
      parts.contents.push_back(Json::array());
      bytes = 0;
    }
    parts.contents.back().push_back(base64(page.images[i].thumbnail));
    bytes += page.images[i].thumbnail.size() * 4 / 3 + 3;
  }
  return parts;
}

Parts line_parts(const FolderPage& page, std::size_t most_lines, std::size_t most_bytes) {
  Parts parts;
  Lines lines;
  const auto finish = [&] {
    if (!parts.firsts.empty()) parts.contents.push_back(lines.json());
    lines = {};
  };
  for (std::size_t i = 0; i < page.pairs.size(); ++i) {
    if (i == 0 || lines.count * kLineBytes > most_bytes) {
      finish();
      parts.firsts.push_back(int(i));
    }
    lines.add(page, page.pairs[i], most_lines);
  }
  finish();
  return parts;
}

Json images_json(const FolderPage& page) {
  Json names = Json::array(), problems = Json::object();
  std::vector<int> components;
  for (std::size_t i = 0; i < page.images.size(); ++i) {
    const FolderPageImage& image = page.images[i];
    names.push_back(image.name);
    components.push_back(image.component);
    if (!image.problem.empty()) problems[std::to_string(i)] = image.problem;
  }
  std::vector<GraphEdge> edges;
  for (const FolderPagePair& pair : page.pairs) {
    if (pair.connects()) edges.push_back({pair.first, pair.second, pair.inliers});
  }
  const GraphLayout layout = graph_layout(components, edges);
  using Image = FolderPageImage;
  using U32 = std::uint32_t;
  return {{"names", std::move(names)},
          {"problems", std::move(problems)},
          {"width", column_of<U32>(page.images, [](const Image& i) { return i.width; })},
          {"height", column_of<U32>(page.images, [](const Image& i) { return i.height; })},
          {"features", column_of<U32>(page.images, [](const Image& i) { return i.features; })},
          {"component", column_of<U32>(page.images, [](const Image& i) { return i.component; })},
          {"x", column_of<std::uint16_t>(
                    layout.places, [&](const auto& p) { return share16(p[0] / layout.width); })},
          {"y", column_of<std::uint16_t>(
                    layout.places, [&](const auto& p) { return share16(p[1] / layout.height); })},
          {"graph", {std::lround(layout.width * 1000), std::lround(layout.height * 1000)}}};
}

Json pairs_json(const FolderPage& page) {
  using Pair = FolderPagePair;
  using U32 = std::uint32_t;
  Json kinds = Json::array();
  for (int kind = 0; kind <= int(Configuration::watermark); ++kind) {
    kinds.push_back(name(Configuration(kind)));
  }
  return {
      {"kinds", std::move(kinds)},
      {"first", column_of<U32>(page.pairs, [](const Pair& p) { return p.first; })},
      {"second", column_of<U32>(page.pairs, [](const Pair& p) { return p.second; })},
      {"matches", column_of<U32>(page.pairs, [](const Pair& p) { return p.matches; })},
      {"inliers", column_of<U32>(page.pairs, [](const Pair& p) { return p.inliers; })},
      {"kind", column_of<std::uint8_t>(page.pairs, [](const Pair& p) { return int(p.kind); })},
      {"distance", column_of<float>(page.pairs, [](const Pair& p) { return p.median_distance; })},
      {"angle", column_of<float>(page.pairs, [](const Pair& p) { return p.angle_degrees; })},
      {"further", page.further_pairs},
      {"furtherVerified", page.further_verified}};
}

// Everything on the page except thumbnails and lines.
Json data_json(const FolderPage& page) {
  Json warnings = Json::array();
  for (const FolderPageWarning& w : page.warnings) {
    warnings.push_back({{"sentence", w.sentence}, {"images", w.images}, {"serious", w.serious}});
  }
  Json components = Json::array();
  for (const FolderPageComponent& c : page.components) components.push_back({c.images, c.pairs});
  return {{"title", page.title},
          {"images", images_json(page)},
          {"pairs", pairs_json(page)},
          {"components", std::move(components)},
          {"distances", {{"width", page.distances.width}, {"counts", page.distances.counts}}},
          {"warnings", std::move(warnings)},
          {"stages", stages_json(page.stages)},
          {"facts", page.facts},
          {"command", page.command},
          {"next", page.next},
          {"files", page.files}};
}

void check(const FolderPage& page) {
  const int images = int(page.images.size());
  for (const FolderPageImage& image : page.images) {
    require(image.component >= 0 && std::size_t(image.component) < page.components.size(),
            "the image ", image.name, " belongs to no component; call find_components() first");
    require(image.width >= 0 && image.height >= 0 && image.features >= 0, "the image ", image.name,
            " has a negative size or number of features");
  }
  std::pair<int, int> last{-1, -1};
  for (const FolderPagePair& pair : page.pairs) {
    require(pair.first >= 0 && pair.first < pair.second && pair.second < images,
            "a pair is of the images ", pair.first, " and ", pair.second,
            "; the first must be the lower, and both must be among the page's ", images);
    require(std::pair(pair.first, pair.second) > last,
            "pairs must be sorted by their images, each once; that of ", pair.first, " and ",
            pair.second, " is not");
    require(pair.matches >= 0 && pair.inliers >= 0, "the pair of ", pair.first, " and ",
            pair.second, " has a negative number of matches or inliers");
    last = {pair.first, pair.second};
  }
}

std::string part_name(const FolderPageOptions& options, const char* what, std::size_t number) {
  return text(options.parts_folder, "/", what, "-", core::zero_padded(number, 3), ".js");
}

}  // namespace

void FolderPageOptions::validate() const {
  require(most_images_in_one_file >= 0, "most_images_in_one_file is ", most_images_in_one_file,
          "; it must not be negative");
  require(most_part_bytes >= 10000, "most_part_bytes is ", most_part_bytes,
          "; files of fewer than 10,000 bytes would be too many");
  require(!parts_folder.empty() &&
              parts_folder.find_first_of("/\\\"<>&'%?#") == std::string::npos &&
              parts_folder != "." && parts_folder != ".." && is_printable(parts_folder),
          "parts_folder is '", parts_folder, "'; it must be the plain name of a folder");
}

std::vector<FolderPageFile> folder_page(const FolderPage& page, const FolderPageOptions& options) {
  options.validate();
  check(page);
  const bool one_file = page.images.size() <= std::size_t(options.most_images_in_one_file);
  const std::size_t lines =
      lines_per_pair(page, one_file ? options.most_line_bytes : options.most_parts_bytes);
  // A page in one file has one part.
  const std::size_t part = one_file ? SIZE_MAX / 64 : options.most_part_bytes;
  const Parts thumbnails = thumbnail_parts(page, part), line_lists = line_parts(page, lines, part);

  Json data = data_json(page);
  data["parts"] = {{"folder", options.parts_folder},
                   {"thumbnails", thumbnails.firsts},
                   {"lines", line_lists.firsts}};
  // The key distinguishes files of another run.
  std::string text = script_text(data);
  std::vector<std::pair<const char*, const Parts*>> kinds = {{"thumbnails", &thumbnails},
                                                             {"lines", &line_lists}};
  std::vector<std::string> contents;
  for (const auto& [what, parts] : kinds) {
    for (const Json& json : parts->contents) text += contents.emplace_back(script_text(json));
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const std::string key = core::hexadecimal(io::content_hash({bytes, text.size()}));
  data["key"] = key;

  std::vector<FolderPageFile> files(1);
  std::string inside;  // calls that pass the parts to the page
  std::size_t at = 0;
  for (const auto& [what, parts] : kinds) {
    for (std::size_t k = 0; k < parts->contents.size(); ++k) {
      std::string call = cornea::text("corneaPart(\"", what, "\", ", k, ", \"", key, "\", ",
                                      contents[at++], ");\n");
      if (one_file) {
        inside += call;
      } else {
        files.push_back({part_name(options, what, k), std::move(call)});
      }
    }
  }
  if (one_file) inside = "<script>\n" + inside + "</script>\n";
  const std::string title = html_escaped(page.title), values = script_text(data);
  const std::string body = filled(page_files::folder_html, {{"made", page_files::made_html}});
  files[0] = {"report.html",
              framed({.kind = "folder",
                      .title = title,
                      .css = page_files::folder_css,
                      .body = body,
                      .data = values,
                      .sources = " 'self' file:",
                      .parts = inside,
                      .scripts = {page_files::folder_found_js, page_files::folder_parts_js,
                                  page_files::glide_js, page_files::folder_matrix_js,
                                  page_files::folder_graph_js, page_files::folder_pair_js,
                                  page_files::folder_table_js, page_files::folder_words_js}})};
  return files;
}

}  // namespace cornea
