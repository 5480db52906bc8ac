// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/fundamental.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/geometry/ransac/host_team.h"
#include "cornea/geometry/ransac/ransac.h"
#include "cornea/geometry/two_view/batch.h"
#include "cornea/geometry/two_view/fundamental_problem.h"
#include "cornea/geometry/two_view/fundamental_study.h"
#include "cornea/geometry/two_view/significance.h"

namespace cornea {
namespace {

using namespace core;
using namespace geometry;

// The second smallest eigenvalue of a positive definite matrix divided by its trace; x is the
// eigenvector of the smallest.
double second_eigenvalue(const double (&m)[packed_size(9)], const double* x) {
  double trace = 0, lifted[packed_size(9)], y[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (int i = 0; i < 9; ++i) trace += m[packed(i, i)];
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j <= i; ++j) lifted[packed(i, j)] = m[packed(i, j)] + trace * x[i] * x[j];
  }
  smallest_eigenvector<9>(lifted, y);
  double value = 0;
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) value += y[i] * m[packed(std::max(i, j), std::min(i, j))] * y[j];
  }
  return value / trace;
}

// Thresholds, in pixels, if the threshold is chosen per pair: the first search uses the first, and
// if its result is doubtful, a second search uses the second, for pairs whose points are localised
// only to several pixels.
constexpr double kSearchThreshold = 3, kWideThreshold = 10;
// A result is doubtful if the noise is wider than the first threshold, or if less than this
// fraction of the correspondences agrees within the noise.
constexpr double kSureShare = 0.4;
// The factor by which the wide search's model must be more significant. If the first search found
// only a plane and the wide one points off it too, any gain is enough.
constexpr double kClearlyBetter = 1.3;

FundamentalProblem problem_of(const FundamentalOptions& o, double threshold, int max_hypotheses) {
  return {
      {threshold, o.confidence, max_hypotheses, o.target, o.sample, o.round, o.seed, o.optimise},
      o.threshold == 0,
      o.check_plane,
      o.refine};
}

// How significant the model is within its width.
double significance_of(const RansacOutcome<FundamentalOutcome>& of, int count) {
  if (!of.outcome.has_f()) return 0;
  const double share = of.outcome.width / side_of(of.normalisation);
  return significance(int(of.outcome.support), count, 7, share);
}

bool leaves_doubt(const FundamentalOutcome& outcome, int count) {
  if (outcome.kind == TwoView::degenerate) return false;
  return !outcome.has_f() || outcome.wider || outcome.support < kSureShare * count;
}

}  // namespace

void FundamentalOptions::validate() const {
  require(threshold >= 0 && std::isfinite(threshold),
          "threshold takes a positive number of pixels, or 0 to choose it per pair, not ",
          threshold);
  require(confidence > 0 && confidence < 1, "confidence takes a number between 0 and 1, not ",
          confidence);
  require(max_hypotheses >= 1, "max_hypotheses takes 1 or more, not ", max_hypotheses);
  require(target >= 0, "target takes a number of inliers, or 0 for none, not ", target);
  require(sample == 7 || sample == 8, "sample takes 7 or 8 correspondences, not ", sample);
  require(round >= 1 && round <= 1 << 24, "round takes 1 to ", 1 << 24, " hypotheses, not ", round);
}

namespace {

// Whether as many inliers are expected in random correspondences. The refinement may have lost
// some.
bool is_by_chance(const FundamentalOutcome& outcome, const Normalisation& normalisation,
                  std::span<const std::uint8_t> inliers) {
  const int all = int(inliers.size()), count = int(std::count(inliers.begin(), inliers.end(), 1));
  const double t = outcome.threshold;
  if (outcome.kind == TwoView::general) {
    return is_chance(std::uint32_t(count), all) ||
           random_epipolar({count, all, t}, {int(outcome.support), all, outcome.width}, 7,
                           side_of(normalisation));
  }
  return outcome.kind == TwoView::planar &&
         random_transfer({count, all, kPlaneWidth * t}, side_of(normalisation));
}

// Writes F and H in pixels; the inliers have been set before.
void write_outcome(const FundamentalOutcome& outcome, const Normalisation& normalisation,
                   FundamentalResult& out) {
  out.kind = outcome.kind;
  out.threshold = outcome.threshold;
  out.hypotheses = outcome.hypotheses;
  out.rounds = outcome.rounds;
  out.stop = outcome.stop;
  if (outcome.has_f()) out.F = epipolar_in_pixels(outcome.f, normalisation);
  if (outcome.kind == TwoView::planar) {
    out.H = homography_in_pixels(outcome.plane.h, normalisation);
  }
  out.inlier_count = static_cast<int>(std::count(out.inliers.begin(), out.inliers.end(), 1));
  if (is_by_chance(outcome, normalisation, out.inliers)) {
    out.kind = TwoView::none;
    out.F = out.H = {};
    out.inlier_count = 0;
    std::fill(out.inliers.begin(), out.inliers.end(), std::uint8_t{0});
  }
}

}  // namespace

bool FundamentalResult::may_be_chance() const {
  return kind == TwoView::general && inlier_count < int(kSureSupport);
}

FundamentalEstimator::FundamentalEstimator(const Context& context,
                                           const FundamentalOptions& options)
    : FundamentalEstimator(context, (options.validate(), options), Unchecked()) {}

struct FundamentalEstimator::State {
  std::unique_ptr<Ransac<FundamentalProblem>> narrow, wide;
};

FundamentalEstimator::FundamentalEstimator(const Context& context,
                                           const FundamentalOptions& options, Unchecked)
    : context_(context), options_(options), state_(std::make_unique<State>()) {
  const auto make = [&](double threshold, int max_hypotheses) {
    return make_ransac(context, problem_of(options, threshold, max_hypotheses));
  };
  const int most = options.max_hypotheses;
  if (options.threshold > 0) {
    state_->narrow = make(options.threshold, most);
  } else {
    state_->narrow = make(kSearchThreshold, most - most / 2);
    if (most > 1) state_->wide = make(kWideThreshold, most / 2);
  }
}

FundamentalEstimator geometry::estimator_with_sample(const Context& context,
                                                     const FundamentalOptions& options,
                                                     int sample) {
  require(sample >= 7 && sample <= kLargestSample, "sample takes 7 to ", kLargestSample,
          " correspondences, not ", sample);
  FundamentalOptions wanted = options;
  wanted.sample = 8;
  wanted.validate();
  wanted.sample = sample;
  return {context, wanted, FundamentalEstimator::Unchecked()};
}

FundamentalEstimator::~FundamentalEstimator() = default;
FundamentalEstimator::FundamentalEstimator(FundamentalEstimator&&) noexcept = default;

FundamentalResult FundamentalEstimator::estimate(std::span<const Correspondence> matches,
                                                 std::uint64_t key) {
  FundamentalResult result;
  estimate_batch({&matches, 1}, {&key, 1}, {&result, 1});
  return result;
}

void FundamentalEstimator::estimate_batch(std::span<const std::span<const Correspondence>> pairs,
                                          std::span<const std::uint64_t> keys,
                                          std::span<FundamentalResult> out) {
  estimate_places<FundamentalResult>(
      context_, pairs, keys, out, options_.sample,
      [&](std::span<RansacPair> wanted, std::span<FundamentalResult*> results,
          const std::function<void()>& meanwhile) { estimate_some(wanted, results, meanwhile); });
}

void FundamentalEstimator::estimate_some(std::span<geometry::RansacPair> pairs,
                                         std::span<FundamentalResult*> out,
                                         const std::function<void()>& meanwhile) {
  std::vector<RansacOutcome<FundamentalOutcome>> outcomes(pairs.size());
  state_->narrow->run(pairs, outcomes, meanwhile);
  if (state_->wide) {
    std::vector<RansacPair> again;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!leaves_doubt(outcomes[i].outcome, int(pairs[i].matches.size()))) continue;
      again.push_back(pairs[i]);
      which.push_back(i);
    }
    std::vector<std::vector<std::uint8_t>> inliers(again.size());
    for (std::size_t k = 0; k < again.size(); ++k) {
      inliers[k].resize(again[k].matches.size());
      again[k].inliers = inliers[k].data();
    }
    std::vector<RansacOutcome<FundamentalOutcome>> wide(again.size());
    if (!again.empty()) state_->wide->run(again, wide, nullptr);
    for (std::size_t k = 0; k < again.size(); ++k) {
      RansacOutcome<FundamentalOutcome>& first = outcomes[which[k]];
      const int count = int(again[k].matches.size());
      wide[k].outcome.hypotheses += first.outcome.hypotheses;
      wide[k].outcome.rounds += first.outcome.rounds;
      first.outcome.hypotheses = wide[k].outcome.hypotheses;
      first.outcome.rounds = wide[k].outcome.rounds;
      const bool leaves_plane =
          first.outcome.kind == TwoView::planar && wide[k].outcome.kind == TwoView::general;
      const double factor = leaves_plane ? 1 : kClearlyBetter;
      const double before = std::max(significance_of(first, count), 0.0);
      if (significance_of(wide[k], count) <= factor * before) continue;
      if (is_by_chance(wide[k].outcome, wide[k].normalisation, inliers[k])) continue;
      first = wide[k];
      std::copy(inliers[k].begin(), inliers[k].end(), pairs[which[k]].inliers);
    }
  }
  core::parallel_for(context_, int(pairs.size()), kPairsPerPiece, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      write_outcome(outcomes[i].outcome, outcomes[i].normalisation, *out[i]);
    }
  });
}

std::array<double, 9> eight_point(std::span<const Correspondence> matches) {
  require(matches.size() >= 8, "the eight-point algorithm needs 8 correspondences or more, not ",
          matches.size());
  check_correspondences(matches);
  HostPoints team;
  team.set(matches);
  const Normalisation normalisation = normalise(team);
  require(normalisation.scales.first > 0 && normalisation.scales.second > 0,
          "all points of an image are equal, so they do not determine a fundamental matrix");
  team.apply(normalisation, 1);
  double m[packed_size(9)], factorised[packed_size(9)];
  epipolar_system(
      team, [](const PointPair&) { return 1.0; }, m);
  Matrix3<double> f = {{1, 1, 1, 1, 1, 1, 1, 1, 1}};
  std::copy(std::begin(m), std::end(m), factorised);
  smallest_eigenvector<9>(factorised, f.v);
  require(second_eigenvalue(m, f.v) > 1e-12,
          "these correspondences do not determine a fundamental matrix: points are equal, or on a "
          "line or "
          "on a plane");
  Vector3<double> left;
  f = rank_two(f, left);
  return epipolar_in_pixels(f, normalisation);
}

std::array<double, 9> with_unit_corner(const std::array<double, 9>& H) {
  double largest = 0;
  for (const double v : H) largest = std::max(largest, std::abs(v));
  std::array<double, 9> scaled = H;
  if (std::abs(H[8]) < 1e-6 * largest || H[8] == 0) return scaled;
  for (double& v : scaled) v /= H[8];
  return scaled;
}

double epipolar_distance(const std::array<double, 9>& F, const Correspondence& match) {
  Matrix3<double> f;
  std::copy(F.begin(), F.end(), f.v);
  const double square = squared_distance<double>(f, match.x1, match.y1, match.x2, match.y2, 1, 1);
  return std::isfinite(square) ? std::sqrt(square) : std::numeric_limits<double>::infinity();
}

}  // namespace cornea
