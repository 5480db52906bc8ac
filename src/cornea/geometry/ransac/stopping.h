// SPDX-License-Identifier: Apache-2.0
// The number of samples after which RANSAC may stop.
#pragma once

#include <cstdint>

#include "cornea/core/host_device.h"

namespace cornea::geometry {

// Whether, with probability `confidence`, at least one of `drawn` samples contains no outliers,
// where `good`, 0 to 1, is the fraction of all samples without outliers: (1 - good)^drawn <= 1 -
// confidence, computed with products only.
CORNEA_HD inline bool enough_draws(double good, std::uint64_t drawn, double confidence) {
  double power = 1 - good, missed = 1;
  for (std::uint64_t n = drawn; n; n >>= 1) {
    if (n & 1) missed *= power;
    power *= power;
  }
  return missed <= 1 - confidence;
}
// The same for samples of `size` correspondences, of which the fraction `share` are inliers: good =
// share^size.
CORNEA_HD inline bool enough_samples(double share, int size, std::uint64_t drawn,
                                     double confidence) {
  double good = 1;
  for (int i = 0; i < size; ++i) good *= share;
  return enough_draws(good, drawn, confidence);
}

}  // namespace cornea::geometry
