// SPDX-License-Identifier: Apache-2.0
// The one table of estimators of two-view geometry: names, flags, help and defaults for front ends.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "cornea/catalog/settings.h"
#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/geometry/two_view/essential.h"
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/geometry/two_view/homography.h"

namespace cornea {

using AnyEstimator = std::variant<FundamentalEstimator, EssentialEstimator, HomographyEstimator>;

struct EstimatorEntry {
  std::string name = {};     // "fundamental"
  std::string summary = {};  // one line
  std::string source = {};   // the paper
  std::vector<Flag> flags = {};
  // An unknown flag or an invalid value is an error (invalid_argument) that names it.
  std::function<AnyEstimator(const Context&, const Settings&)> make = {};
};

// The help of the two spellings of F's threshold, wherever they occur.
inline constexpr char kThresholdHelp[] =
    "largest distance of an inlier, pixels: the sum of its distances to both epipolar lines, about "
    "twice that to one line and 2.8 times the Sampson distance, which OpenCV's USAC and COLMAP "
    "use; 0: "
    "chosen per pair from the noise";
inline constexpr char kThresholdPerLineHelp[] = "the same per epipolar line: half of the threshold";

CORNEA_API const std::vector<EstimatorEntry>& estimator_table();

// The options of an entry, for front ends that pass them on; errors as above.
CORNEA_API FundamentalOptions fundamental_options(const Settings& settings);
CORNEA_API EssentialOptions essential_options(const Settings& settings);
CORNEA_API HomographyOptions homography_options(const Settings& settings);
// The flags of "fundamental" with these values as defaults.
CORNEA_API std::vector<Flag> fundamental_flags(FundamentalOptions values);

// An unknown name is an error that lists the known ones.
CORNEA_API const EstimatorEntry& find_estimator(const std::string& name);

}  // namespace cornea
