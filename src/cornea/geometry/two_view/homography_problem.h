// SPDX-License-Identifier: Apache-2.0
// H as a problem for RANSAC (ransac/search.h). Shared by CPU and CUDA.
#pragma once

#include "cornea/geometry/ransac/search.h"
#include "cornea/geometry/refine/homography.h"
#include "cornea/geometry/solvers/four_point.h"
#include "cornea/geometry/two_view/fundamental_problem.h"

namespace cornea::geometry {

struct HomographyOutcome {
  TwoView kind = TwoView::none;
  Matrix3<double> h{};
  double threshold = 0;  // of the inliers, pixels
  int hypotheses = 0, rounds = 0;
  StopReason stop = StopReason::nothing_to_do;
};

struct HomographyInlier {
  bool found;
  Plane plane;
  CORNEA_HD bool operator()(const PointPair& p) const { return found && plane.has(p); }
};

struct HomographyProblem {
  using Metric = TransferMetric;
  using Outcome = HomographyOutcome;
  static constexpr int kModels = 1, kSample = 4;

  SearchOptions search;
  bool refine;

  CORNEA_HD Models<kModels> make(const Sample<float, kSample>& s) const { return from_four(s); }

  template <class Team>
  CORNEA_HD void optimise(Team& team, const Scales& scales, Model& model) const {
    optimise_homography(
        team, scales, search.threshold, [&](const Matrix3<float>& h) { return team.score(h); },
        model);
  }

  CORNEA_HD static HomographyInlier inlier_of(const Outcome& outcome, const Scales& scales) {
    return {outcome.kind == TwoView::planar, plane_of(outcome.h, scales, outcome.threshold)};
  }

  template <class Team>
  CORNEA_HD Outcome conclude(Team& team, std::uint64_t, Search& state) const {
    Outcome outcome;
    outcome.hypotheses = state.hypotheses;
    outcome.rounds = state.rounds;
    outcome.stop = state.stop;
    outcome.threshold = search.threshold;
    const Scales& scales = state.normalisation.scales;
    if (state.hopeless || !is_cost(state.best.score.cost)) {
      outcome.kind = state.fixed ? TwoView::none : TwoView::degenerate;
      return outcome;
    }
    const bool sure = state.best.score.inliers >= kLeastSupport;
    const Plane best = plane_of(state.best.f, scales, search.threshold);
    // The threshold is the sum of the distances in both images.
    if (on_a_line(team, scales, line_width(search.threshold / 2),
                  [&](const PointPair& p) { return !sure || best.has(p); })) {
      outcome.kind = TwoView::degenerate;
      return outcome;
    }
    if (!sure) return outcome;
    outcome.kind = TwoView::planar;
    outcome.h = state.best.f;
    if (refine) {
      // Unlike F, H is not fitted at the width of the noise, because planes in photographs are not
      // that flat.
      const Matrix3<double> h =
          minimise_homography(team, outcome.h, scales, kPlaneLossWidth * search.threshold);
      if (2 * team.score(converted<float>(h)).inliers > state.best.score.inliers) outcome.h = h;
    }
    return outcome;
  }
};

}  // namespace cornea::geometry
