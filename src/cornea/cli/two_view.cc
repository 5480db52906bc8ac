// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/two_view.h"

#include <algorithm>
#include <cstdio>

#include "cornea/catalog/detectors.h"
#include "cornea/cli/pose_words.h"
#include "cornea/core/error.h"
#include "cornea/geometry/ransac/search.h"
#include "cornea/io/csv.h"

namespace cornea::cli {

void add_described_detector_option(CLI::App& command, std::string& detector) {
  std::string names;
  for (const DetectorEntry& entry : detector_table()) {
    names += text(names.empty() ? "" : ", ", entry.name, " (", entry.summary, ")");
  }
  command.add_option("--detector", detector, names + "; SIFT describes the points of all")
      ->capture_default_str()
      ->type_name("NAME");
}

void add_match_options(CLI::App& command, MatchOptions& options) {
  command
      .add_option("--ratio", options.ratio,
                  "largest ratio of the nearest to the second nearest distance; 1 or more: no test")
      ->capture_default_str()
      ->type_name("R");
  command.add_flag("!--no-mutual", options.mutual,
                   "also keep matches that are not mutual nearest neighbours");
  command
      .add_option("--max-distance", options.max_distance,
                  "largest descriptor distance; 0: no limit")
      ->capture_default_str()
      ->type_name("D");
}

void add_matches_argument(CLI::App& command, std::string& matches) {
  command
      .add_option(
          "matches", matches,
          "CSV with one line per match; its first line names the columns x1, y1, x2 and y2, "
          "in any order, among others; without names these are the first four; - for standard "
          "input")
      ->required()
      ->type_name("MATCHES.csv");
}

std::string csv_text(const MatchTable& table, const std::string& distance,
                     const std::function<std::optional<double>(const Correspondence&)>& distance_of,
                     const std::vector<std::uint8_t>& inliers) {
  std::string csv = text(table.header, ",", distance, ",inlier\n");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    csv += table.rows[i] + ",";
    if (const auto away = distance_of(table.matches[i])) csv += io::shortest_text(float(*away));
    csv += inliers[i] ? ",1\n" : ",0\n";
  }
  return csv;
}

Json matrix_json(const std::array<double, 9>& m) {
  Json rows = Json::array();
  for (int i = 0; i < 3; ++i) rows.push_back({m[3 * i], m[3 * i + 1], m[3 * i + 2]});
  return rows;
}

std::string matrix_text(const std::array<double, 9>& m) {
  std::string lines;
  char line[96];
  for (int i = 0; i < 3; ++i) {
    std::snprintf(line, sizeof line, "  %15.8e %15.8e %15.8e\n", m[3 * i], m[3 * i + 1],
                  m[3 * i + 2]);
    lines += line;
  }
  return lines;
}

namespace {

constexpr char kAlike[] =
    "they are equal, nearly all lie on a line in an image, or span so little that they cannot be "
    "pixels";
constexpr int kLeastInliers = int(geometry::kLeastSupport);  // fewer may agree by chance

std::string few_text(int places) {
  return text("none: fewer than ", kLeastInliers, " inliers may agree by chance, and only ", places,
              " different correspondences were given");
}

}  // namespace

std::string explanation(const FundamentalResult& result, const FundamentalOptions& options) {
  const bool repeats = std::size_t(result.places) < result.inliers.size();
  switch (result.kind) {
    case TwoView::general:
      return "";
    case TwoView::planar:
      return "planar: one homography explains nearly all inliers, so the points lie on a plane "
             "or the camera only rotated; F is not unique, use H";
    case TwoView::none:
      if (result.places < kLeastInliers) return few_text(result.places);
      return "none: no fundamental matrix has more inliers than expected by chance; are these "
             "matches of "
             "one scene? A larger "
             "--threshold may help";
    case TwoView::degenerate:
      return text("degenerate: these points do not determine a fundamental matrix: ", kAlike);
    case TwoView::too_few_points:
      return text("too few points: a sample needs ", options.sample, " correspondences, but ",
                  result.inliers.size(), " were given",
                  repeats ? text(", at ", result.places, " different positions") : "");
  }
  return "";
}

std::string warning(const FundamentalResult& result, const FundamentalOptions& options) {
  const std::string sentence = explanation(result, options);
  if (!result.may_be_chance()) return sentence;
  return text(sentence, sentence.empty() ? "" : "; ", result.inlier_count,
              " inliers are few: ", kChance);
}

namespace {

template <class Result>
std::string too_few_text(int sample, const Result& result) {
  const bool repeats = std::size_t(result.places) < result.inliers.size();
  return text("too few points: a sample needs ", sample, " correspondences, but ",
              result.inliers.size(), " were given",
              repeats ? text(", at ", result.places, " different positions") : "");
}

}  // namespace

std::string pose_doubts(const EssentialResult& result) {
  std::string all;
  if (result.leaves_points_behind()) {
    all = text(result.parallax_behind, " of ", result.parallax_in_front + result.parallax_behind,
               " inliers with parallax lie behind a camera, so the pose is probably wrong: either "
               "the points lie on a plane and this is the wrong one of two poses, or the focal "
               "lengths are wrong.");
  } else if (result.second_pose) {
    all =
        "Nearly all inliers lie on one plane, which another pose explains as well: R and t may be "
        "wrong. Points off the plane or a third view would decide.";
  }
  constexpr double kNearEnd = 3.8;  // the factor is sought from 1/4 to 4
  if (result.focal_factor > kNearEnd || result.focal_factor < 1 / kNearEnd) {
    all += text(all.empty() ? "" : " ",
                "The focal length is at the end of what is sought, 1/4 to 4 times the guess, and "
                "probably wrong; give a better guess.");
  }
  return all;
}

std::string pose_warning(const EssentialResult& result) {
  const std::string doubts = pose_doubts(result);
  if (!result.may_be_chance()) return doubts;
  return text("The ", result.inlier_count, " inliers are few: ", kChance, ".",
              doubts.empty() ? "" : " ", doubts);
}

std::string explanation(const EssentialResult& result, const EssentialOptions& options) {
  if (result.pure_rotation) {
    return "pure rotation: the camera only rotated, or hardly moved; R is valid, t and E are not";
  }
  switch (result.kind) {
    case TwoView::general: {
      const std::string angle =
          result.median_angle_degrees < 1 ? angle_sentence(result.median_angle_degrees) : "";
      const std::string doubts = pose_warning(result);
      return angle + (angle.empty() || doubts.empty() ? "" : " ") + doubts;
    }
    case TwoView::planar:  // only with pure_rotation
      return "";
    case TwoView::none:
      if (result.places < kLeastInliers) return few_text(result.places);
      return "none: no essential matrix has more inliers than expected by chance; are these "
             "matches of "
             "one scene, and the cameras right? A larger --threshold may help";
    case TwoView::degenerate:
      return text("degenerate: these points do not determine an essential matrix: ", kAlike);
    case TwoView::too_few_points:
      return too_few_text(options.shared_focal ? 6 : 5, result);
  }
  return "";
}

std::string explanation(const HomographyResult& result) {
  switch (result.kind) {
    case TwoView::general:
    case TwoView::planar:
      return "";
    case TwoView::none:
      if (result.places < kLeastInliers) return few_text(result.places);
      return "none: no homography has more inliers than expected by chance; are these matches of "
             "one "
             "plane, or of a camera that only rotated? A larger --threshold may help";
    case TwoView::degenerate:
      return text("degenerate: these points do not determine a homography: ", kAlike);
    case TwoView::too_few_points:
      return too_few_text(4, result);
  }
  return "";
}

}  // namespace cornea::cli
