// SPDX-License-Identifier: Apache-2.0
// E as a problem for RANSAC (ransac/search.h), with known focal lengths or with an unknown one that
// both views share. Shared by CPU and CUDA. Coordinates are rays, computed with the known focal
// lengths or with the guess: the normalisation that is given with a pair converts pixels relative
// to the principal point to rays.
#pragma once

#include "cornea/geometry/ransac/search.h"
#include "cornea/geometry/refine/essential.h"
#include "cornea/geometry/refine/noise.h"
#include "cornea/geometry/refine/resample.h"
#include "cornea/geometry/refine/shared_focal.h"
#include "cornea/geometry/solvers/five_point.h"
#include "cornea/geometry/solvers/six_point_focal.h"
#include "cornea/geometry/two_view/fundamental_problem.h"

namespace cornea::geometry {

struct EssentialOutcome {
  TwoView kind = TwoView::none;
  Matrix3<double> e{};
  Pose pose{};
  double focal = 1;  // in units of the guess, if it was estimated
  bool pure_rotation = false;
  double threshold = 0;  // of the inliers, pixels
  double width = 0;      // measured width of the noise, as a threshold
  double support = 0;    // correspondences within the width
  int hypotheses = 0, rounds = 0;
  StopReason stop = StopReason::nothing_to_do;
};

struct EssentialInlier {
  bool found;
  InlierTest inlier;
  CORNEA_HD bool operator()(const PointPair& p) const { return found && inlier(p); }
};

// Fraction of the inliers that a rotation alone must explain for the motion to be a pure rotation.
inline constexpr double kRotatedShare = 0.9;

// kSharpWidth is the noise of well localised points, pixels. The model of a search is
// doubtful if its noise is wider than kDoubtfulWidths times this, or if less than kDoubtfulShare of
// the correspondences agree with it within its noise.
inline constexpr double kSharpWidth = 0.7, kDoubtfulWidths = 2, kDoubtfulShare = 0.42;
inline constexpr int kInnerSamples = 256;

// Known focal lengths: samples of 5, models are E.
struct KnownFocal {
  using Manifold = PoseManifold;
  static constexpr int kModels = 10, kSample = 5;
  static constexpr bool kSought = false;
  // Calls add(Matrix3<float>) for each model; returns whether there are solutions, including those
  // with points behind a camera.
  template <class Add>
  CORNEA_HD static bool for_each(const Sample<double, kSample>& s, const Add& add) {
    return for_each_essential(s, [&](const Matrix3<double>& e) { add(converted<float>(e)); });
  }
};

// An unknown focal length that both views share: samples of 6; models are F between rays computed
// with the guessed focal length.
struct UnknownFocal {
  using Manifold = FocalManifold;
  static constexpr int kModels = 15, kSample = 6;
  static constexpr bool kSought = true;
  template <class Add>
  CORNEA_HD static bool for_each(const Sample<double, kSample>& s, const Add& add) {
    return for_each_shared_focal(
        s, [&](const Matrix3<double>& f, double) { add(converted<float>(f)); });
  }
};

// The points of a team as rays of another focal length.
template <class Team>
struct RefocusedTeam {
  Team& team;
  double g;  // 1 / focal length, in units of the guess
  template <int count, class Terms>
  CORNEA_HD void sums(double (&out)[count], const Terms& terms) {
    team.template sums<count>(out, [&](const PointPair& p, double* to) {
      return terms(PointPair{p.x1 * g, p.y1 * g, p.x2 * g, p.y2 * g}, to);
    });
  }
};

template <class Focal>
struct CalibratedProblem {
  using Metric = EpipolarMetric;
  using Outcome = EssentialOutcome;
  using Manifold = typename Focal::Manifold;
  static constexpr int kModels = Focal::kModels, kSample = Focal::kSample;

  SearchOptions search;
  bool automatic;  // whether the threshold is chosen per pair
  bool refine;

  CORNEA_HD static Sample<double, kSample> in_double(const Sample<float, kSample>& s) {
    Sample<double, kSample> rays;
    CORNEA_UNROLL
    for (int i = 0; i < kSample; ++i) {
      rays.x1[i] = s.x1[i], rays.y1[i] = s.y1[i], rays.x2[i] = s.x2[i], rays.y2[i] = s.y2[i];
    }
    return rays;
  }

  CORNEA_HD Models<kModels> make(const Sample<float, kSample>& s) const {
    Models<kModels> result;
    result.fixed = Focal::for_each(in_double(s), [&](const Matrix3<float>& m) {
      if (result.count < kModels) result.m[result.count++] = m;
    });
    return result;
  }

  template <class Team>
  CORNEA_HD void optimise(Team& team, const Scales& scales, Model& model) const {
    optimise_on<Manifold>(team, scales, search.threshold, model);
  }

  CORNEA_HD static EssentialInlier inlier_of(const Outcome& outcome, const Scales& scales) {
    const Matrix3<double> m = Focal::kSought ? with_focal(outcome.e, outcome.focal) : outcome.e;
    return {outcome.kind == TwoView::general || outcome.kind == TwoView::planar,
            inlier_test(m, scales, outcome.threshold)};
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
    const bool sure = !is_chance(state.best.score.inliers, team.count());
    if (!sure) {
      const bool line = on_a_line(team, scales, line_width(search.threshold),
                                  [](const PointPair&) { return true; });
      outcome.kind = line ? TwoView::degenerate : TwoView::none;
      return outcome;
    }
    double width = search.threshold;
    const Matrix3<double> m = fit_last(team, pair, state, width);
    if (automatic) outcome.threshold = threshold_of(width);
    const double narrow = narrow_threshold(outcome.threshold, width);
    outcome.width = width;
    outcome.support = team.score(converted<float>(m), cost_scale(scales, width)).inliers;
    // Not even a rotation is known: on a line, a translation across it looks the same.
    if (on_a_line(team, scales, refine ? narrow : line_width(narrow),
                  inlier_test(m, scales, narrow))) {
      outcome.kind = TwoView::degenerate;
      return outcome;
    }
    if constexpr (Focal::kSought) {
      outcome.focal = focal_of(m);
      const double g = 1 / outcome.focal;
      outcome.e = matrix_of(essential_frame(with_focal(m, g)));
      RefocusedTeam<Team> rays{team, g};
      find_pose(rays, {scales.first * g, scales.second * g}, narrow, outcome);
    } else {
      outcome.e = m;
      find_pose(team, scales, narrow, outcome);
    }
    return outcome;
  }

 private:
  // Fits the model of the search at the width of the noise, which is returned in `width`.
  template <class Team>
  CORNEA_HD Matrix3<double> fit_last(Team& team, std::uint64_t pair, const Search& state,
                                     double& width) const {
    const Scales& scales = state.normalisation.scales;
    const Matrix3<double> found = Manifold::matrix(Manifold::at(state.best.f));
    if (!refine) return found;
    const double r = scales.second / scales.first, rr = r * r, pixel = 1 / scales.second;
    const auto fit = [&](const Matrix3<double>& m, double t) {
      return minimise_on<Manifold>(team, m, scales, kPoseLossWidth * t, kFewSteps);
    };
    const auto distance = [&](const Matrix3<double>& m, const PointPair& p) {
      return sqrt(squared_distance(m, p.x1, p.y1, p.x2, p.y2, r, rr)) * pixel;
    };
    constexpr int kIterations = 6;
    bool wider;
    Matrix3<double> m = fit(found, width);
    double fitted = follow_noise(team, width, kIterations, fit, distance, m, wider);
    // If few correspondences agree within the noise, or the noise is wider than usual for
    // photographs, the search may have found a compromise between models. Samples scored at a
    // narrow width show whether a better model exists.
    const std::uint32_t support =
        team.score(converted<float>(m), cost_scale(scales, fitted)).inliers;
    if (fitted > kSharpWidth * kDoubtfulWidths || support < kDoubtfulShare * team.count()) {
      const bool better = resample<kSample>(
          team, search.seed, pair, scales, {kInnerSamples, 2 * search.threshold, kSharpWidth},
          [](const Sample<float, kSample>& s, const auto& add) {
            Focal::for_each(in_double(s), add);
          },
          [&](Model& model, double t) { optimise_on<Manifold>(team, scales, t, model); }, fit, m);
      if (better)
        fitted = follow_noise(team, search.threshold, kIterations, fit, distance, m, wider);
    }
    m = minimise_on<Manifold>(team, m, scales, kPoseLossWidth * fitted);
    // With few inliers a fit may leave its basin of attraction.
    if (2 * team.score(converted<float>(m)).inliers <= state.best.score.inliers) return found;
    width = fitted;
    return m;
  }

  // Finds the pose of outcome.e, and whether the camera only rotated, at the threshold `narrow`.
  template <class Rays>
  CORNEA_HD static void find_pose(Rays& rays, const Scales& scales, double narrow,
                                  Outcome& outcome) {
    double in_front;
    outcome.pose =
        choose_pose(rays, outcome.e, inlier_test(outcome.e, scales, outcome.threshold), in_front);
    outcome.kind = TwoView::general;
    // If the camera only rotated, the points lie in front of it for any t, and R alone explains
    // them.
    const InlierTest inlier = inlier_test(outcome.e, scales, narrow);
    const Matrix3<double> rotation = minimise_rotation(rays, outcome.pose.rotation, scales, narrow);
    const double rotated =
        count_rotated(rays, rotation_test(rotation, scales, kPlaneWidth * narrow), inlier);
    double inliers[1];
    rays.template sums<1>(inliers, [&](const PointPair& p, double* terms) {
      terms[0] = 1;
      return inlier(p);
    });
    if (rotated >= kRotatedShare * inliers[0]) {
      outcome.pure_rotation = true;
      outcome.kind = TwoView::planar;
      outcome.pose.rotation = rotation;
    }
  }
};

using EssentialProblem = CalibratedProblem<KnownFocal>;
using SharedFocalProblem = CalibratedProblem<UnknownFocal>;

}  // namespace cornea::geometry
