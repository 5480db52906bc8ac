// SPDX-License-Identifier: Apache-2.0
#include "cornea/report/page.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "cornea/core/error.h"
#include "cornea/report/html.h"
#include "cornea/report/page_files.h"
#include "cornea/report/page_text.h"
#include "cornea/report/preview.h"

namespace cornea {
namespace {

using namespace report;

Json matrix_json(const std::array<double, 9>& m) {
  return {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}};
}

std::size_t fewer(std::size_t count, std::size_t most) { return std::min(count, most); }

// x1, y1, x2, y2, ratio, distance (-1: none), inlier, index of the match.
std::string encoded_matches(const PairPage& page, const PageOptions& options) {
  Column numbers;
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
  return numbers.encoded();
}

// X, Y, Z of the matches that encoded_matches() contains.
std::string encoded_points(const PairPage& page, const PageOptions& options) {
  Column numbers;
  const std::size_t all = page.matches.size(), shown = fewer(all, options.most_matches);
  for (std::size_t k = 0; k < shown; ++k) {
    for (const float v : page.pose->points[k * all / shown]) numbers.add(v);
  }
  return numbers.encoded();
}

Json camera_json(const Intrinsics& c) { return {c.fx, c.fy, c.cx, c.cy, c.k1, c.k2, c.p1, c.p2}; }

Json pose_json(const PairPage& page, const PageOptions& options) {
  if (!page.pose) return nullptr;
  const PagePose& pose = *page.pose;
  return {{"E", matrix_json(pose.E)},
          {"R", matrix_json(pose.R)},
          {"t", pose.t},
          {"cameras", {camera_json(pose.cameras.first), camera_json(pose.cameras.second)}},
          {"ofUndistorted", pose.of_undistorted},
          {"points", encoded_points(page, options)},
          {"sentence", pose.sentence},
          {"facts", pose.facts}};
}

// x, y of the points without a match; points with several orientations once.
std::string encoded_others(std::span<const Keypoint> points, const std::vector<bool>& matched,
                           const PageOptions& options) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0, end = 1; i < points.size(); i = end++) {
    bool any = matched[i];
    for (; end < points.size() && points[end].x == points[i].x && points[end].y == points[i].y;
         ++end) {
      any = any || matched[end];
    }
    if (!any) others.push_back(i);
  }
  Column numbers;
  const std::size_t shown = fewer(others.size(), options.most_other_points);
  for (std::size_t k = 0; k < shown; ++k) {
    const Keypoint& p = points[others[k * others.size() / shown]];
    numbers.add(p.x);
    numbers.add(p.y);
  }
  return numbers.encoded();
}

Json photograph_json(const PagePhotograph& photograph, const std::vector<bool>& matched,
                     const PageOptions& options) {
  return {{"name", photograph.name},
          {"width", photograph.pixels.width},
          {"height", photograph.pixels.height},
          {"points", photograph.points.size()},
          {"others", encoded_others(photograph.points, matched, options)}};
}

// The number of inliers in each cell of a grid over a photograph, row by row.
Json coverage_json(const PairPage& page, bool second) {
  constexpr int kCells = 8;  // per side
  const PagePhotograph& photograph = second ? page.second : page.first;
  // The centre of the first pixel is 0, its left edge -0.5.
  const auto cell = [](float at, int length) {
    const double share = (double(at) + 0.5) / length;
    return std::clamp(int(std::floor(share * kCells)), 0, kCells - 1);
  };
  std::array<int, kCells * kCells> counts{};
  for (std::size_t i = 0; i < page.matches.size(); ++i) {
    if (!page.geometry->inliers[i]) continue;
    const Match& m = page.matches[i];
    const Keypoint& p = photograph.points[std::size_t(second ? m.b : m.a)];
    const int x = cell(p.x, photograph.pixels.width), y = cell(p.y, photograph.pixels.height);
    ++counts[std::size_t(y) * kCells + std::size_t(x)];
  }
  return counts;
}

// Everything on the page except the previews.
Json data_json(const PairPage& page, const PageOptions& options) {
  const FundamentalResult& g = *page.geometry;
  std::vector<bool> first(page.first.points.size()), second(page.second.points.size());
  for (const Match& m : page.matches) {
    first[std::size_t(m.a)] = true;
    second[std::size_t(m.b)] = true;
  }
  const bool has_f = g.F != std::array<double, 9>{}, planar = g.kind == TwoView::planar;
  return {{"photographs",
           {photograph_json(page.first, first, options),
            photograph_json(page.second, second, options)}},
          {"matches", encoded_matches(page, options)},
          {"matchCount", page.matches.size()},
          {"inlierCount", g.inlier_count},
          {"kind", name(g.kind)},
          {"F", has_f ? matrix_json(g.F) : Json()},
          {"H", planar ? matrix_json(with_unit_corner(g.H)) : Json()},
          {"coverage", {coverage_json(page, false), coverage_json(page, true)}},
          {"threshold", page.threshold},
          {"pose", pose_json(page, options)},
          {"sentence", page.sentence},
          {"notice", page.notice},
          {"command", page.command},
          {"files", page.files},
          {"stages", stages_json(page.stages)},
          {"facts", page.facts}};
}

std::string preview_uri(const Preview& preview) {
  return "data:image/jpeg;base64," + base64(preview.jpeg);
}

void check(const PairPage& page) {
  require(page.geometry != nullptr, "a page needs the geometry's result");
  require(!page.first.pixels.empty() && !page.second.pixels.empty(), "there is no image to show");
  require(page.geometry->inliers.size() == page.matches.size(), "the geometry is of ",
          page.geometry->inliers.size(), " matches, the page of ", page.matches.size());
  require(page.distances.empty() || page.distances.size() == page.matches.size(), "there are ",
          page.distances.size(), " distances for ", page.matches.size(), " matches");
  require(!page.pose || page.pose->points.size() == page.matches.size(),
          "a pose needs one point per match, of which there are ", page.matches.size());
  for (const Match& m : page.matches) {
    require(m.a >= 0 && std::size_t(m.a) < page.first.points.size() && m.b >= 0 &&
                std::size_t(m.b) < page.second.points.size(),
            "a match joins points ", m.a, " and ", m.b, ", which do not exist");
  }
}

}  // namespace

void PageOptions::validate() const {
  require(longest_side >= 64, "a preview of ", longest_side, " pixels is too small to look at");
  require(most_bytes >= 200000, "a page of ", most_bytes, " bytes is too small for its text");
}

std::string pair_page(const Context& context, const PairPage& page, const PageOptions& options) {
  options.validate();
  check(page);
  const std::string data = script_text(data_json(page, options));
  const std::string title = html_escaped(page.first.name + " and " + page.second.name);
  const auto with_previews = [&](std::string_view first, std::string_view second) {
    const std::string body =
        filled(page_files::page_html,
               {{"first", first}, {"second", second}, {"made", page_files::made_html}});
    return framed({.kind = "pair",
                   .title = title,
                   .css = {},
                   .body = body,
                   .data = data,
                   .sources = {},
                   .parts = {},
                   .scripts = {page_files::found_js, page_files::shapes_js, page_files::draw_js,
                               page_files::overlay_js, page_files::point_js,
                               page_files::histogram_js, page_files::table_js, page_files::space_js,
                               page_files::pose_js, page_files::words_js}});
  };
  const std::size_t fixed = with_previews("", "").size();
  // Base64 writes 3 bytes as 4.
  const std::size_t left = options.most_bytes > fixed ? options.most_bytes - fixed : 0;
  const std::size_t each = left / 2 * 3 / 4 - std::min<std::size_t>(left / 4, 64);
  const auto preview = [&](const PagePhotograph& photograph) {
    return preview_uri(make_preview(context, photograph.pixels, options.longest_side, each));
  };
  return with_previews(preview(page.first), preview(page.second));
}

}  // namespace cornea
