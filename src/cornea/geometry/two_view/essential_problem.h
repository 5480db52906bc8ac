// E as a problem for RANSAC (ransac/search.h). Once for both devices. Coordinates are rays: the
// normalisation that is given with a pair takes pixels around the principal point to them.
#pragma once

#include "cornea/geometry/ransac/search.h"
#include "cornea/geometry/refine/essential.h"
#include "cornea/geometry/refine/noise.h"
#include "cornea/geometry/refine/resample.h"
#include "cornea/geometry/solvers/five_point.h"
#include "cornea/geometry/two_view/fundamental_problem.h"

namespace cornea::geometry {

struct EssentialOutcome {
  TwoView kind = TwoView::none;
  Matrix3<double> e{};
  Pose pose{};
  bool pure_rotation = false;
  double threshold = 0;  // of the inliers, pixels
  int hypotheses = 0, rounds = 0;
  StopReason stop = StopReason::nothing_to_do;
};

struct EssentialInlier {
  bool found;
  InlierTest inlier;
  CORNEA_HD bool operator()(const PointPair& p) const { return found && inlier(p); }
};

// Share of the inliers that a rotation alone must explain to be one.
inline constexpr double kTurnedShare = 0.9;

// Pixels: a width that is narrow for points of photographs. A search's model that is not this sharp
// within so many of them is doubted, and one that so few agree with.
inline constexpr double kSharpWidth = 0.7, kDoubtfulWidths = 2, kDoubtfulShare = 0.3;
inline constexpr int kInnerSamples = 256;

struct EssentialProblem {
  using Metric = EpipolarMetric;
  using Outcome = EssentialOutcome;
  static constexpr int kModels = 10, kSample = 5;

  SearchOptions search;
  bool automatic;  // whether the threshold was chosen, not given
  bool refine;

  CORNEA_HD static Sample<double, 5> in_double(const Sample<float, kSample>& s) {
    Sample<double, 5> rays;
    CORNEA_UNROLL
    for (int i = 0; i < 5; ++i) {
      rays.x1[i] = s.x1[i], rays.y1[i] = s.y1[i], rays.x2[i] = s.x2[i], rays.y2[i] = s.y2[i];
    }
    return rays;
  }

  CORNEA_HD Models<kModels> make(const Sample<float, kSample>& s) const {
    Models<kModels> result;
    result.fixed = for_each_essential(in_double(s), [&](const Matrix3<double>& e) {
      if (result.count < kModels) result.m[result.count++] = converted<float>(e);
    });
    return result;
  }

  template <class Team>
  CORNEA_HD void optimise(Team& team, const Scales& scales, Model& model) const {
    optimise_essential(team, scales, search.threshold, model);
  }

  CORNEA_HD static EssentialInlier inlier_of(const Outcome& outcome, const Scales& scales) {
    return {outcome.kind == TwoView::general || outcome.kind == TwoView::planar,
            inlier_test(outcome.e, scales, outcome.threshold)};
  }

  template <class Team>
  CORNEA_HD Outcome conclude(Team& team, std::uint64_t pair, Search& state) const {
    Outcome outcome;
    outcome.hypotheses = state.hypotheses;
    outcome.rounds = state.rounds;
    outcome.stop = state.stop;
    outcome.threshold = search.threshold;
    const Scales& scales = state.normalisation.scales;
    if (!is_cost(state.best.score.cost)) {
      outcome.kind = state.fixed ? TwoView::none : TwoView::degenerate;
      return outcome;
    }
    if (is_chance(state.best.score.inliers, team.count())) return outcome;
    outcome.e = matrix_of(essential_frame(state.best.f));
    double width = search.threshold;
    if (refine) {
      const double r = scales.second / scales.first, rr = r * r, pixel = 1 / scales.second;
      const auto fit = [&](const Matrix3<double>& m, double t) {
        return minimise_essential(team, m, scales, kPoseLossWidth * t, kFewSteps);
      };
      const auto distance = [&](const Matrix3<double>& m, const PointPair& p) {
        return sqrt(squared_distance(m, p.x1, p.y1, p.x2, p.y2, r, rr)) * pixel;
      };
      constexpr int kTurns = 6;
      bool wider;
      Matrix3<double> e = fit(outcome.e, width);
      double fitted = follow_noise(team, width, kTurns, fit, distance, e, wider);
      // Where few agree within the noise, or none within less than the search's threshold, the
      // search may have found a compromise: samples are judged at a width at which that shows.
      const std::uint32_t support =
          team.score(converted<float>(e), cost_scale(scales, fitted)).inliers;
      if (fitted > kSharpWidth * kDoubtfulWidths || support < kDoubtfulShare * team.count()) {
        const bool better = resample<5>(
            team, search.seed, pair, scales, {kInnerSamples, 2 * search.threshold, kSharpWidth, 0},
            [](const Sample<float, 5>& s, const auto& add) {
              for_each_essential(in_double(s),
                                 [&](const Matrix3<double>& m) { add(converted<float>(m)); });
            },
            [&](Model& model, double t) { optimise_essential(team, scales, t, model); }, fit, e);
        if (better) fitted = follow_noise(team, search.threshold, kTurns, fit, distance, e, wider);
      }
      e = minimise_essential(team, e, scales, kPoseLossWidth * fitted);
      // A fit may leave its basin where the inliers are few.
      if (2 * team.score(converted<float>(e)).inliers > state.best.score.inliers) {
        outcome.e = e;
        width = fitted;
      }
    }
    if (automatic) {
      const double wanted = kInlierThresholdsPerWidth * width;
      outcome.threshold = wanted > kLeastInlierThreshold ? wanted : kLeastInlierThreshold;
    }
    const InlierTest inlier = inlier_test(outcome.e, scales, outcome.threshold);
    double before;
    outcome.pose = choose_pose(team, outcome.e, inlier, before);
    outcome.kind = TwoView::general;
    // A camera that only turned has points everywhere before it for any t; R alone explains them.
    const Matrix3<double> rotation =
        minimise_rotation(team, outcome.pose.rotation, scales, outcome.threshold);
    const double turned =
        count_turned(team, turn_test(rotation, scales, kPlaneWidth * outcome.threshold), inlier);
    double inliers[1];
    team.template sums<1>(inliers, [&](const PointPair& p, double* terms) {
      terms[0] = 1;
      return inlier(p);
    });
    if (turned >= kTurnedShare * inliers[0]) {
      outcome.pure_rotation = true;
      outcome.kind = TwoView::planar;
      outcome.pose.rotation = rotation;
    }
    return outcome;
  }
};

}  // namespace cornea::geometry
