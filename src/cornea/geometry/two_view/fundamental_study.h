// SPDX-License-Identifier: Apache-2.0
// For studies and tests: samples of more correspondences than F needs.
#pragma once

#include "cornea/core/context.h"
#include "cornea/geometry/two_view/fundamental.h"

namespace cornea::geometry {

// An estimator that draws 7 to 32 correspondences per hypothesis, whatever the options say; more
// than 8 are solved by least squares.
FundamentalEstimator estimator_with_sample(const Context& context,
                                           const FundamentalOptions& options, int sample);

}  // namespace cornea::geometry
