// SPDX-License-Identifier: Apache-2.0
// Shared by the commands about two views: flags of the stages, and results as text and JSON.
#pragma once

#include <array>
#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "cornea/cli/common.h"
#include "cornea/geometry/two_view/essential.h"
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/geometry/two_view/homography.h"
#include "cornea/match/match.h"

namespace cornea::cli {

// Adds --detector, for commands in which SIFT describes the points of all detectors.
void add_described_detector_option(CLI::App& command, std::string& detector);
// Adds --ratio, --no-mutual, --max-distance.
void add_match_options(CLI::App& command, MatchOptions& options);

// Adds MATCHES.csv, the argument of the estimators' commands.
void add_matches_argument(CLI::App& command, std::string& matches);
// The input's own columns unchanged, followed by two more: `distance` (empty if there is none) and
// inlier.
std::string csv_text(const MatchTable& table, const std::string& distance,
                     const std::function<std::optional<double>(const Correspondence&)>& distance_of,
                     const std::vector<std::uint8_t>& inliers);

// The counts that every estimator reports, as two lines and as JSON.
template <class Result>
void print_counts(const std::string& matches, const Context& context, const Result& result,
                  double milliseconds) {
  const std::size_t all = result.inliers.size();
  const bool repeats = std::size_t(result.places) < all;
  std::cout << input_name(matches) << "  " << all << " correspondences"
            << (repeats ? text(" at ", result.places, " different positions") : "") << ", "
            << result.inlier_count << " inliers  " << milliseconds_text(milliseconds) << " on "
            << context.description() << "\n"
            << result.hypotheses << " hypotheses in " << result.rounds << " round(s); stopped by "
            << name(result.stop) << "\n";
}
template <class Result>
void add_counts(Json& json, const Context& context, const Result& result, double milliseconds) {
  json["inliers"] = result.inliers;
  json["inlier_count"] = result.inlier_count;
  json["places"] = result.places;
  json["hypotheses"] = result.hypotheses;
  json["rounds"] = result.rounds;
  json["converged"] = result.converged();
  json["milliseconds"] = milliseconds;
  json["kind"] = name(result.kind);
  json["stopped_by"] = name(result.stop);
  json["device"] = context.name();
}
// That no model fits is a result; that none can exist is an error in the points.
inline bool ends_well(TwoView kind) {
  return kind != TwoView::degenerate && kind != TwoView::too_few_points;
}

Json matrix_json(const std::array<double, 9>& m);
std::string matrix_text(const std::array<double, 9>& m);

// What a user should know about a result; empty for an ordinary F.
std::string explanation(const FundamentalResult& result, const FundamentalOptions& options);

// The same, and a warning if there are few inliers; empty if F is reliable.
std::string warning(const FundamentalResult& result, const FundamentalOptions& options);
inline Json warning_json(const FundamentalResult& result, const FundamentalOptions& options) {
  const std::string sentence = warning(result, options);
  return sentence.empty() ? Json(nullptr) : Json(sentence);
}
// Why a pose may be wrong: the positions of its points and its focal length. Empty if nothing
// speaks against it.
std::string pose_doubts(const EssentialResult& result);
// The same, preceded by a sentence if there are few inliers.
std::string pose_warning(const EssentialResult& result);
// What a user should know about E or H; empty for an ordinary one.
std::string explanation(const EssentialResult& result, const EssentialOptions& options);
std::string explanation(const HomographyResult& result);

inline constexpr char kChance[] =
    "so few may agree by chance, and these may not be photographs of one scene";

}  // namespace cornea::cli
