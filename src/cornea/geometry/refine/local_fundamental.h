// SPDX-License-Identifier: Apache-2.0
// Local optimisation of F (LO-RANSAC: O. Chum, J. Matas, J. Kittler, DAGM 2003): reweighted least
// squares over the inliers with a narrowing threshold. `Team`: points.h.
#pragma once

#include "cornea/geometry/algebra/rank_two.h"
#include "cornea/geometry/algebra/symmetric.h"
#include "cornea/geometry/scoring/epipolar.h"
#include "cornea/geometry/scoring/model.h"
#include "cornea/geometry/solvers/epipolar_system.h"

namespace cornea::geometry {

// The eight-point algorithm over the inliers of F. The weights turn the algebraic error into
// Sampson's (scoring/sampson.h) and fall to 0 towards the threshold.
template <class Team>
CORNEA_HD Matrix3<double> refit(Team& team, const Matrix3<double>& f, const Scales& scales,
                                double threshold) {
  // The weights need little precision, and float is faster.
  const Matrix3<float> g = converted<float>(f);
  const CostScale scale = cost_scale(scales, threshold);
  double m[packed_size(9)];
  epipolar_system(
      team,
      [&](const PointPair& p) {
        const auto terms = epipolar_terms(g, float(p.x1), float(p.y1), float(p.x2), float(p.y2));
        const float share = squared_distance(terms, scale.r, scale.rr) * scale.inverse;
        const float inside = 1.0f - share;
        return share < 1.0f ? double(inside * inside / (terms.p * scale.rr + terms.q)) : 0.0;
      },
      m);
  Matrix3<double> next = f;
  constexpr int kIterations = 2;
  smallest_eigenvector<9>(m, next.v, kIterations);
  Vector3<double> left;
  return rank_two(next, left);
}

// Refits with a threshold that narrows to `threshold`; the model with the best score there is kept.
template <class Team>
CORNEA_HD void optimise_fundamental(Team& team, const Scales& scales, double threshold,
                                    Model& model) {
  Matrix3<double> f = model.f;
  const CostScale scale = cost_scale(scales, threshold);
  constexpr int kRefits = 3;
  constexpr double kWidest = 3;  // thresholds
  for (int i = 0; i < kRefits; ++i) {
    const double width = kWidest - (kWidest - 1) * i / (kRefits - 1);
    f = refit(team, f, scales, width * threshold);
    const Score score = team.score(converted<float>(f), scale);
    if (score.cost < model.score.cost) model = {f, score};
  }
}

}  // namespace cornea::geometry
