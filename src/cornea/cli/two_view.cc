#include "cornea/cli/two_view.h"

#include <cstdio>

#include "cornea/catalog/detectors.h"
#include "cornea/core/error.h"

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
                  "largest distance as a share of the second nearest's; 1 or more: no test")
      ->capture_default_str()
      ->type_name("R");
  command.add_flag("!--no-mutual", options.mutual,
                   "also matches whose second point has a nearer one in the first image");
  command
      .add_option("--max-distance", options.max_distance,
                  "largest distance of descriptors; 0: no limit")
      ->capture_default_str()
      ->type_name("D");
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

std::string explanation(const FundamentalResult& result, const FundamentalOptions& options) {
  const bool repeats = std::size_t(result.places) < result.inliers.size();
  switch (result.kind) {
    case TwoView::general:
      return "";
    case TwoView::planar:
      return "planar: one homography explains nearly all that agrees, so the points lie on a plane "
             "or the camera only turned; F is one of many that fit, trust H";
    case TwoView::none:
      return "none: no fundamental matrix has more inliers than chance gives; are these matches of "
             "one scene? A larger "
             "--threshold may help";
    case TwoView::degenerate:
      return "degenerate: these points fix no fundamental matrix, they are equal or lie on a line "
             "in an "
             "image";
    case TwoView::too_few_points:
      return text("too few points: a sample takes ", options.sample, " correspondences, and ",
                  result.inliers.size(), " were given",
                  repeats ? text(", which are ", result.places, " in different places") : "");
  }
  return "";
}

std::string warning(const FundamentalResult& result, const FundamentalOptions& options) {
  const std::string sentence = explanation(result, options);
  if (!result.may_be_chance()) return sentence;
  return text(sentence, sentence.empty() ? "" : "; ", result.inlier_count,
              " inliers are few: ", kChance);
}

}  // namespace cornea::cli
