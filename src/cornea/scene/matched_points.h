// SPDX-License-Identifier: Apache-2.0
// Matched points of two synthetic views with exact ground truth, for estimators.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cornea/core/export.h"
#include "cornea/core/features.h"

namespace cornea {

struct CORNEA_API MatchedPointsOptions {
  int count = 500;
  double outliers = 0;  // share of matches between unrelated points
  double noise = 0;     // standard deviation of all coordinates, pixels
  double plane = 0;     // share of the inliers that lie on one plane
  bool moves = true;    // false: the camera only rotates
  std::uint64_t seed = 0;

  void validate() const;
};

struct MatchedPoints {
  std::vector<Correspondence> matches = {};
  std::vector<std::uint8_t> inliers = {};  // 0 or 1 each
  std::vector<Correspondence> exact = {};  // the inliers without noise; those on the plane first
  std::array<double, 9> F{};               // x2^T F x1 = 0, row-major; 0 if the camera only rotates
};

// Points 4 to 10 m in front of a camera of 1280 x 960 pixels that rotates and moves by one or two
// metres. Outliers are at random positions in the list.
CORNEA_API MatchedPoints make_matched_points(const MatchedPointsOptions& options);

}  // namespace cornea
