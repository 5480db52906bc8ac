// SPDX-License-Identifier: Apache-2.0
// What an estimation from two views found, and why its search ended.
#pragma once

#include <string_view>

#include "cornea/core/export.h"

namespace cornea {

enum class TwoView {
  general,  // F is valid
  planar,   // a plane or a pure rotation: H is valid; F is one of many compatible with it
  // Fewer than 8 inliers, or (F and E) fewer than 15 if they are less than half of the
  // correspondences, before or after refinement; or no more than expected in random ones.
  none,
  // No sample determines F, or in one image the inliers lie on a line, apart from fewer than 8 (and
  // one more per 50 other correspondences) and fewer than a third of them.
  degenerate,
  too_few_points,  // fewer distinct correspondences than a sample
};
CORNEA_API std::string_view name(TwoView kind);

// If the kind is planar, an inlier's distance to H (that of x2 to H x1 plus that of x1 to H^-1 x2)
// is below this many thresholds.
inline constexpr double kPlaneWidth = 4;

enum class StopReason {
  // With the required confidence one sample had no outliers, or would have had none if a model with
  // 15 inliers (8 to 15: half of the correspondences) existed.
  confidence,
  target,         // the target number of inliers was reached
  maximum,        // the maximum number of hypotheses was drawn
  nothing_to_do,  // there was nothing to search
};
CORNEA_API std::string_view name(StopReason reason);

}  // namespace cornea
