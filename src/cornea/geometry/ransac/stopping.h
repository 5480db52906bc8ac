// SPDX-License-Identifier: Apache-2.0
// How many samples are enough.
#pragma once

#include <cstdint>

#include "cornea/core/host_device.h"

namespace cornea::geometry {

// Whether `drawn` samples of `size` correspondences contain one without outliers with probability
// `confidence`, given a share of inliers: (1 - share^size)^drawn <= 1 - confidence, by products
// only.
CORNEA_HD inline bool enough_draws(double good, std::uint64_t drawn, double confidence) {
  double power = 1 - good, missed = 1;
  for (std::uint64_t n = drawn; n; n >>= 1) {
    if (n & 1) missed *= power;
    power *= power;
  }
  return missed <= 1 - confidence;
}
CORNEA_HD inline bool enough_samples(double share, int size, std::uint64_t drawn,
                                     double confidence) {
  double good = 1;
  for (int i = 0; i < size; ++i) good *= share;
  return enough_draws(good, drawn, confidence);
}

}  // namespace cornea::geometry
