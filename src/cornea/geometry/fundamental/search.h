// The search over rounds of hypotheses: what is kept from round to round, once for both devices.
#pragma once

#include "cornea/geometry/fundamental/fundamental.h"
#include "cornea/geometry/fundamental/fundamental_steps.h"

namespace cornea::geometry {

// Of a round: cost << 32 | hypothesis, so that the smallest is the best and of equal ones the
// first.
struct RoundBest {
  std::uint64_t key = ~std::uint64_t{0};
  Matrix3<float> f{};

  CORNEA_HD std::uint32_t cost() const { return static_cast<std::uint32_t>(key >> 32); }
};
CORNEA_HD inline std::uint64_t round_key(std::uint32_t cost, std::uint32_t hypothesis) {
  return std::uint64_t{cost} << 32 | hypothesis;
}
CORNEA_HD inline std::uint32_t hypothesis_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key);
}

// A sample of near misses is as good a start for the optimisation as one of inliers: of these
// thresholds, where it is on, is the share that says how many samples are enough.
inline constexpr double kNear = 2;

struct Search {
  Normalisation normalisation;
  bool hopeless = false;  // all points of an image are equal
  bool fixed = false;     // some sample fixed a model, be it one that cannot be
  Model best;
  double near = 0;  // correspondences within kNear thresholds of the best model
  int hypotheses = 0, rounds = 0;
  StopReason stop = StopReason::nothing_to_do;  // as long as it goes on

  CORNEA_HD bool ended() const { return hopeless || stop != StopReason::nothing_to_do; }
};

// F has 7 degrees of freedom: among many thousands of hypotheses one fits a dozen of any points.
inline constexpr std::uint32_t kLeastSupport = 8, kSureSupport = 15;
CORNEA_HD inline bool is_chance(std::uint32_t inliers, int count) {
  return inliers < kLeastSupport || (inliers < kSureSupport && 2 * inliers < std::uint32_t(count));
}
// The fewest inliers that are not.
CORNEA_HD inline int least_inliers(int count) {
  const int half = (count + 1) / 2, least = int(kLeastSupport), sure = int(kSureSupport);
  return half < least ? least : half < sure ? half : sure;
}
// Whether a model with so few inliers would have been found by now: of all samples the share
// C(inliers, size) / C(count, size) holds nothing else. Further ones then find no geometry.
CORNEA_HD inline bool nothing_left(int count, int size, std::uint64_t drawn, double confidence) {
  const int inliers = least_inliers(count);
  double good = 1;
  for (int i = 0; i < size && i <= inliers; ++i) good *= double(inliers - i) / double(count - i);
  return enough_draws(good, drawn, confidence);
}

// `team` has the points in pixels.
template <class Team>
CORNEA_HD Search begin_search(Team& team) {
  Search search;
  search.normalisation = normalise(team);
  const Scales& scales = search.normalisation.scales;
  search.hopeless = !(scales.first > 0 && scales.second > 0);
  return search;
}

CORNEA_HD inline int next_round(const Search& search, const FundamentalOptions& options) {
  const int left = options.max_hypotheses - search.hypotheses;
  return left < options.round ? left : options.round;
}

// Whether the best model so far makes further samples needless.
CORNEA_HD inline StopReason reason_to_stop(const Search& search, const FundamentalOptions& options,
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

template <class Team>
CORNEA_HD double count_near(Team& team, const Search& search, const FundamentalOptions& options) {
  const InlierTest near =
      inlier_test(search.best.f, search.normalisation.scales, kNear * options.threshold);
  double sums[1];
  team.template sums<1>(sums, [&](const PointPair& p, double* terms) {
    terms[0] = 1;
    return near(p);
  });
  return sums[0];
}

template <class Team>
CORNEA_HD void end_round(Team& team, const FundamentalOptions& options, const RoundBest& round,
                         Search& search) {
  search.hypotheses += next_round(search, options);
  ++search.rounds;
  const StopReason before = reason_to_stop(search, options, team.count());
  const bool needless = before == StopReason::confidence || before == StopReason::target;
  search.fixed |= round.cost() != kNoCost;
  if (is_cost(round.cost()) && (!needless || round.cost() < search.best.score.cost)) {
    Model model{converted<double>(round.f), team.score(round.f)};
    if (options.optimise) {
      optimise(team, search.normalisation.scales, options.threshold, model);
    }
    if (model.score.cost < search.best.score.cost) {
      search.best = model;
      search.near = count_near(team, search, options);
    }
  }
  search.stop = reason_to_stop(search, options, team.count());
}

}  // namespace cornea::geometry
