// SPDX-License-Identifier: Apache-2.0
// The cost of a model over all points of a pair on the CPU, several points at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/geometry/scoring/epipolar.h"
#include "cornea/geometry/scoring/transfer.h"

namespace cornea::geometry {

// Normalised coordinates as floats, one list per coordinate.
struct FloatPoints {
  std::vector<float> x1, y1, x2, y2;

  void resize(std::size_t count) {
    for (auto* list : {&x1, &y1, &x2, &y2}) list->resize(count);
  }
};

// Cost and inliers of a model. Returns early, with a cost above `limit`, once the cost exceeds it;
// `inliers` is then incomplete.
Score score_points(EpipolarMetric, const FloatPoints& points, const CostScale& scale,
                   const Matrix3<float>& m, std::uint32_t limit);
Score score_points(TransferMetric, const FloatPoints& points, const CostScale& scale,
                   const Matrix3<float>& m, std::uint32_t limit);

}  // namespace cornea::geometry
