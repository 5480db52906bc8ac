// SPDX-License-Identifier: Apache-2.0
// F as a problem for RANSAC (ransac/search.h): the models of a sample and the outcome of a search.
// Shared by CPU and CUDA.
#pragma once

#include "cornea/geometry/degeneracy/line.h"
#include "cornea/geometry/degeneracy/plane.h"
#include "cornea/geometry/refine/fundamental.h"
#include "cornea/geometry/refine/local_fundamental.h"
#include "cornea/geometry/refine/noise.h"
#include "cornea/geometry/refine/resample.h"
#include "cornea/geometry/solvers/eight_point.h"
#include "cornea/geometry/solvers/seven_point.h"

namespace cornea::geometry {

struct FundamentalOutcome {
  TwoView kind = TwoView::none;
  Matrix3<double> f{};   // in normalised coordinates; 0 if there is none
  Plane plane{};         // if the kind is planar
  double threshold = 0;  // of the inliers, pixels
  double width = 0;      // measured width of the noise, as a threshold
  double support = 0;    // correspondences within the width
  bool wider = false;    // the noise may be wider than the search's threshold
  int hypotheses = 0, rounds = 0;
  StopReason stop = StopReason::nothing_to_do;

  CORNEA_HD bool has_f() const {
    double largest = 0;
    for (double v : f.v) largest = fabs(v) > largest ? fabs(v) : largest;
    return largest > 0;
  }
};

// Whether a point is an inlier of the outcome's model.
struct FundamentalInlier {
  TwoView kind;
  InlierTest inlier;
  Plane plane;
  CORNEA_HD bool operator()(const PointPair& p) const {
    return kind == TwoView::general ? inlier(p) : kind == TwoView::planar && plane.has(p);
  }
};

// In pixels. If the threshold is chosen per pair, the inlier threshold is at least this. Points
// farther from their epipolar lines than the noise suggests are mostly correct, and later stages
// (triangulation, a mapper) need them.
inline constexpr double kLeastInlierThreshold = 1.5;
inline constexpr double kInlierThresholdsPerWidth = 1.25;
CORNEA_HD inline double threshold_of(double width) {
  const double wanted = kInlierThresholdsPerWidth * width;
  return wanted > kLeastInlierThreshold ? wanted : kLeastInlierThreshold;
}
// The threshold of the tests for lines, planes and pure rotations. A given threshold may be much
// wider than the noise, so that depth would disappear within it.
CORNEA_HD inline double narrow_threshold(double threshold, double width) {
  const double of_noise = threshold_of(width);
  return of_noise < threshold ? of_noise : threshold;
}

// Iterations of a fit that is followed by further fits: the first ones bring most of the gain.
inline constexpr int kFewSteps = 3;

// With this many inliers, a search for a second minimum of the fit does not pay off.
inline constexpr std::uint32_t kManyInliers = 300;

struct FundamentalProblem {
  using Metric = EpipolarMetric;
  using Outcome = FundamentalOutcome;
  static constexpr int kModels = 3, kSample = kLargestSample;

  SearchOptions search;
  bool automatic;  // whether the threshold is chosen per pair
  bool check_plane, refine;

  CORNEA_HD FundamentalModels make(const Sample<float, kSample>& s) const {
    return search.sample == 7 ? from_seven(s) : from_many(s, search.sample);
  }

  template <class Team>
  CORNEA_HD void optimise(Team& team, const Scales& scales, Model& model) const {
    optimise_fundamental(team, scales, search.threshold, model);
  }

  CORNEA_HD static FundamentalInlier inlier_of(const Outcome& outcome, const Scales& scales) {
    return {outcome.kind, inlier_test(outcome.f, scales, outcome.threshold), outcome.plane};
  }

  template <class Team>
  CORNEA_HD static Matrix3<double> fit(Team& team, const Scales& scales, const Matrix3<double>& f,
                                       double threshold, int steps = 10) {
    return minimise(team, f, scales, kLossWidth * threshold * scales.second, steps);
  }
  template <class Team>
  CORNEA_HD static double follow(Team& team, const Scales& scales, double threshold, int iterations,
                                 Matrix3<double>& f, bool& wider) {
    const double r = scales.second / scales.first, rr = r * r, pixel = 1 / scales.second;
    return follow_noise(
        team, threshold, iterations,
        [&](const Matrix3<double>& m, double t) { return fit(team, scales, m, t, kFewSteps); },
        [&](const Matrix3<double>& m, const PointPair& p) {
          return sqrt(squared_distance(m, p.x1, p.y1, p.x2, p.y2, r, rr)) * pixel;
        },
        f, wider);
  }

  // Tries models of 8 correspondences near F, scored at the width of the noise.
  template <class Team>
  CORNEA_HD void resample_fundamental(Team& team, std::uint64_t pair, const Scales& scales,
                                      double& width, Matrix3<double>& f) const {
    constexpr int kSamples = 256;
    constexpr double kNearby = 1.5;  // widths
    const bool better = resample<8>(
        team, search.seed, pair, scales, {kSamples, kNearby * width, width},
        [](const Sample<float, 8>& s, const auto& add) {
          float valid;
          const Matrix3<float> model = from_eight(s, valid);
          if (valid > kBehind) add(model);
        },
        [&](Model& model, double t) { optimise_fundamental(team, scales, t, model); },
        [&](const Matrix3<double>& m, double t) { return fit(team, scales, m, t, kFewSteps); }, f);
    bool wider;
    if (better) width = follow(team, scales, width, 2, f, wider);
  }

  template <class Team>
  CORNEA_HD Outcome conclude(Team& team, std::uint64_t pair, Search& state) const {
    Outcome outcome;
    outcome.hypotheses = state.hypotheses;
    outcome.rounds = state.rounds;
    outcome.stop = state.stop;
    outcome.threshold = outcome.width = search.threshold;
    if (state.hopeless) {
      outcome.kind = TwoView::degenerate;
      return outcome;
    }
    const Scales& scales = state.normalisation.scales;
    const bool found = is_cost(state.best.score.cost);
    const bool sure = found && !is_chance(state.best.score.inliers, team.count());
    if (!sure && on_a_line(team, scales, line_width(search.threshold),
                           [](const PointPair&) { return true; })) {
      outcome.kind = TwoView::degenerate;
      return outcome;
    }
    if (found && !sure) return outcome;
    const bool fits = refine && found;
    if (fits) {
      Matrix3<double> f = fit(team, scales, state.best.f, search.threshold, kFewSteps);
      constexpr int kIterations = 6;
      const double width = follow(team, scales, search.threshold, kIterations, f, outcome.wider);
      if (holds(team, f, state)) {
        outcome.width = width;
        state.best = {f, team.score(converted<float>(f))};
      }
    }
    if (automatic) outcome.threshold = threshold_of(outcome.width);
    const double threshold = narrow_threshold(outcome.threshold, outcome.width);
    if (sure && on_a_line(team, scales, refine ? threshold : line_width(threshold),
                          inlier_test(state.best.f, scales, threshold))) {
      outcome.kind = TwoView::degenerate;
      return outcome;
    }
    outcome.kind = TwoView::general;
    if (check_plane) {
      outcome.kind = judge_plane(
          team, search, pair, threshold, found,
          [&](Model& model) { optimise_fundamental(team, scales, threshold, model); }, state,
          outcome.plane);
      if (outcome.kind == TwoView::planar) outcome.threshold = threshold;
    } else if (!found) {
      outcome.kind = state.fixed ? TwoView::none : TwoView::degenerate;
    }
    if (outcome.kind != TwoView::general && outcome.kind != TwoView::planar) return outcome;
    outcome.f = state.best.f;
    if (fits) {
      Matrix3<double> f = state.best.f;
      double width = outcome.width;
      const std::uint32_t support =
          team.score(converted<float>(f), cost_scale(scales, width)).inliers;
      if (support < kManyInliers) resample_fundamental(team, pair, scales, width, f);
      f = fit(team, scales, f, width);
      if (holds(team, f, state)) {
        outcome.f = f;
        outcome.width = width;
        if (automatic && outcome.kind == TwoView::general) outcome.threshold = threshold_of(width);
      }
    }
    outcome.support =
        team.score(converted<float>(outcome.f), cost_scale(scales, outcome.width)).inliers;
    return outcome;
  }

  // Whether a fit has kept its inliers: with few of them it may leave its basin of attraction.
  template <class Team>
  CORNEA_HD bool holds(Team& team, const Matrix3<double>& f, const Search& state) const {
    const std::uint32_t inliers = team.score(converted<float>(f)).inliers;
    const bool on_target =
        state.stop != StopReason::target || inliers >= std::uint32_t(search.target);
    return 2 * inliers > state.best.score.inliers && on_target;
  }
};

}  // namespace cornea::geometry
