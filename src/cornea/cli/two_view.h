// What the commands about two views share: flags of the stages, and results as text and JSON.
#pragma once

#include <array>
#include <string>

#include "cornea/cli/common.h"
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/match/match.h"

namespace cornea::cli {

// --detector, for commands in which SIFT describes the points of all detectors.
void add_described_detector_option(CLI::App& command, std::string& detector);
// --ratio, --no-mutual, --max-distance.
void add_match_options(CLI::App& command, MatchOptions& options);

Json matrix_json(const std::array<double, 9>& m);
std::string matrix_text(const std::array<double, 9>& m);

// What a person should know about a result; nothing where it is an ordinary F.
std::string explanation(const FundamentalResult& result, const FundamentalOptions& options);

// The same, and that inliers are few where they are: nothing where F can be relied on.
std::string warning(const FundamentalResult& result, const FundamentalOptions& options);
inline Json warning_json(const FundamentalResult& result, const FundamentalOptions& options) {
  const std::string sentence = warning(result, options);
  return sentence.empty() ? Json(nullptr) : Json(sentence);
}
inline constexpr char kChance[] =
    "so few may agree by chance, and these may not be photographs of one scene";

}  // namespace cornea::cli
