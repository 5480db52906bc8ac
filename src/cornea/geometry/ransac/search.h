// SPDX-License-Identifier: Apache-2.0
// RANSAC: the search over rounds of hypotheses, written once for all solvers and metrics, and
// shared by CPU and CUDA.
//
// A `Problem` describes the model that is estimated (F, E or H):
//
//   Problem::Metric             the distance that models are scored with
//   Problem::kModels            largest number of models per sample
//   Problem::kSample            largest sample size
//   Problem::Outcome            the result of a pair's search
//   problem.search              the options of the search
//   problem.make(sample)        the models of a sample: Models<kModels>
//   problem.inlier_of(..)       the test whether a correspondence is an inlier of an outcome
//   problem.optimise(..)        local optimisation of the best model of a round
//   problem.conclude(..)        the outcome: degeneracy tests and the final fits
#pragma once

#include "cornea/geometry/outcome.h"
#include "cornea/geometry/points.h"
#include "cornea/geometry/ransac/stopping.h"
#include "cornea/geometry/scoring/model.h"

namespace cornea::geometry {

struct SearchOptions {
  double threshold;
  double confidence;
  int max_hypotheses, target, sample, round;
  std::uint64_t seed;
  bool optimise;
};

// The best model of a round: cost << 32 | model number, so that the smallest key is the best and
// ties keep the first.
struct RoundBest {
  std::uint64_t key = ~std::uint64_t{0};
  Matrix3<float> f{};

  CORNEA_HD std::uint32_t cost() const { return static_cast<std::uint32_t>(key >> 32); }
};
CORNEA_HD inline std::uint64_t round_key(std::uint32_t cost, std::uint32_t number) {
  return std::uint64_t{cost} << 32 | number;
}
CORNEA_HD inline std::uint32_t number_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key);
}

// For local optimisation, a sample of near-inliers is as good a start as a sample of inliers: with
// it (SearchOptions::optimise), the stopping rule counts correspondences within this many
// thresholds as inliers.
inline constexpr double kNear = 2;

struct Search {
  Normalisation normalisation;
  bool hopeless = false;  // in one image all points are equal, apart from outlying ones
  bool fixed = false;     // a sample has determined a model, possibly one that was rejected
  Model best;
  double near = 0;  // correspondences within kNear thresholds of the best model
  int hypotheses = 0, rounds = 0;
  StopReason stop = StopReason::nothing_to_do;  // until the search ends

  CORNEA_HD bool ended() const { return hopeless || stop != StopReason::nothing_to_do; }
};

// Among many thousands of hypotheses some fit a dozen random correspondences by chance. The numbers
// are those of F, which has 7 degrees of freedom; E has the same. H is accepted from kLeastSupport
// inliers on, but its search ends like that of F: once a model with least_inliers() would have been
// found.
inline constexpr std::uint32_t kLeastSupport = 8, kSureSupport = 15;
CORNEA_HD inline bool is_chance(std::uint32_t inliers, int count) {
  return inliers < kLeastSupport || (inliers < kSureSupport && 2 * inliers < std::uint32_t(count));
}
// The smallest number of inliers that chance does not explain.
CORNEA_HD inline int least_inliers(int count) {
  const int half = (count + 1) / 2, least = int(kLeastSupport), sure = int(kSureSupport);
  return half < least ? least : half < sure ? half : sure;
}
// Whether a model with as few as least_inliers() would have been found by now with the required
// confidence: a fraction C(inliers, size) / C(count, size) of all samples contains only inliers.
// Further samples would then find no geometry.
CORNEA_HD inline bool nothing_left(int count, int size, std::uint64_t drawn, double confidence) {
  const int inliers = least_inliers(count);
  if (inliers > count) return drawn > 0;  // no model can have as many
  double good = 1;
  for (int i = 0; i < size && i <= inliers; ++i) good *= double(inliers - i) / double(count - i);
  return enough_draws(good, drawn, confidence);
}

CORNEA_HD inline Search begin_search(const Normalisation& normalisation) {
  Search search;
  search.normalisation = normalisation;
  const Scales& scales = search.normalisation.scales;
  search.hopeless = !(scales.first > 0 && scales.second > 0);
  return search;
}

CORNEA_HD inline int next_round(const Search& search, const SearchOptions& options) {
  const int left = options.max_hypotheses - search.hypotheses;
  return left < options.round ? left : options.round;
}

// Whether the best model so far makes further samples unnecessary, and why.
CORNEA_HD inline StopReason reason_to_stop(const Search& search, const SearchOptions& options,
                                           int count) {
  const std::uint32_t inliers = search.best.score.inliers;
  if (options.target > 0 && inliers >= std::uint32_t(options.target)) return StopReason::target;
  const double good = options.optimise ? search.near : inliers;
  if (enough_samples(good / count, options.sample, search.hypotheses, options.confidence)) {
    return StopReason::confidence;
  }
  if (nothing_left(count, options.sample, search.hypotheses, options.confidence)) {
    return StopReason::confidence;
  }
  return search.hypotheses >= options.max_hypotheses ? StopReason::maximum
                                                     : StopReason::nothing_to_do;
}

template <class Problem, class Team>
CORNEA_HD void end_round(const Problem& problem, Team& team, const RoundBest& round,
                         Search& search) {
  const SearchOptions& options = problem.search;
  const Scales& scales = search.normalisation.scales;
  search.hypotheses += next_round(search, options);
  ++search.rounds;
  const StopReason before = reason_to_stop(search, options, team.count());
  const bool needless = before == StopReason::confidence || before == StopReason::target;
  search.fixed |= round.cost() != kNoCost;
  if (is_cost(round.cost()) && (!needless || round.cost() < search.best.score.cost)) {
    Model model{converted<double>(round.f), team.score(round.f)};
    if (options.optimise) problem.optimise(team, scales, model);
    if (model.score.cost < search.best.score.cost) {
      search.best = model;
      search.near =
          team.score(converted<float>(model.f), cost_scale(scales, kNear * options.threshold))
              .inliers;
    }
  }
  search.stop = reason_to_stop(search, options, team.count());
}

}  // namespace cornea::geometry
