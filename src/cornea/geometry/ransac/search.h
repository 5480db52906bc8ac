// SPDX-License-Identifier: Apache-2.0
// RANSAC: the search over rounds of hypotheses, written once over solver and score, and once for
// both devices.
//
// A `Problem` is what is sought (F, E or H):
//
//   Problem::Metric             the distance that models are scored with
//   Problem::kModels            most models that a sample gives
//   Problem::kSample            room for a sample
//   Problem::Outcome            what a pair's search comes to
//   problem.search              the options of the search
//   problem.make(sample)        the models of a sample: Models<kModels>
//   problem.optimise(..)        local optimisation of a round's best
//   problem.conclude(..)        the outcome: degeneracies, the last fits
#pragma once

#include "cornea/geometry/ransac/stopping.h"
#include "cornea/geometry/refine/local_fundamental.h"
#include "cornea/geometry/two_view/fundamental.h"

namespace cornea::geometry {

struct SearchOptions {
  double threshold;
  double confidence;
  int max_hypotheses, target, sample, round;
  std::uint64_t seed;
  bool optimise;
};

// The best of a round: cost << 32 | number of the model, so that the smallest key is the best and
// ties go to the first.
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

// A sample of near misses is as good a start for the local optimisation as one of inliers. Where it
// is on, the stopping rule counts correspondences within this many thresholds as inliers.
inline constexpr double kNear = 2;

struct Search {
  Normalisation normalisation;
  bool hopeless = false;  // all points of an image are equal
  bool fixed = false;     // some sample determined a model, possibly an impossible one
  Model best;
  double near = 0;  // correspondences within kNear thresholds of the best model
  int hypotheses = 0, rounds = 0;
  StopReason stop = StopReason::nothing_to_do;  // while the search goes on

  CORNEA_HD bool ended() const { return hopeless || stop != StopReason::nothing_to_do; }
};

// F has 7 degrees of freedom: among many thousands of hypotheses one fits a dozen arbitrary points.
inline constexpr std::uint32_t kLeastSupport = 8, kSureSupport = 15;
CORNEA_HD inline bool is_chance(std::uint32_t inliers, int count) {
  return inliers < kLeastSupport || (inliers < kSureSupport && 2 * inliers < std::uint32_t(count));
}
// The fewest inliers that are not explained by chance.
CORNEA_HD inline int least_inliers(int count) {
  const int half = (count + 1) / 2, least = int(kLeastSupport), sure = int(kSureSupport);
  return half < least ? least : half < sure ? half : sure;
}
// Whether a model with as few as least_inliers() would have been found by now, with the confidence
// asked for: the share C(inliers, size) / C(count, size) of all samples holds inliers only. Further
// samples would find no geometry then.
CORNEA_HD inline bool nothing_left(int count, int size, std::uint64_t drawn, double confidence) {
  const int inliers = least_inliers(count);
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

// Whether the best model so far makes further samples needless.
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
