// SPDX-License-Identifier: Apache-2.0
// The rounds of hypotheses on the CPU, for all problems.
#pragma once

#include <algorithm>
#include <array>

#include "cornea/core/parallel.h"
#include "cornea/geometry/ransac/host_team.h"
#include "cornea/geometry/ransac/ransac.h"
#include "cornea/geometry/ransac/search.h"
#include "cornea/geometry/sampling.h"
#include "cornea/geometry/scoring/preemptive.h"
#include "cornea/geometry/solvers/models.h"

namespace cornea::geometry {

inline constexpr int kSamplesPerPiece = 64;  // of a round, processed by one thread at a time
static_assert(kSamplesPerPiece % kLookGroup == 0);

template <int size>
Sample<float, size> gather(const FloatPoints& points, const std::uint32_t* drawn, int count) {
  Sample<float, size> s;
  for (int i = 0; i < count; ++i) {
    s.x1[i] = points.x1[drawn[i]];
    s.y1[i] = points.y1[drawn[i]];
    s.x2[i] = points.x2[drawn[i]];
    s.y2[i] = points.y2[drawn[i]];
  }
  return s;
}

// The models of `count` samples, starting with sample number `first`.
template <class Problem>
void make_models(const Problem& problem, const FloatPoints& points, std::uint64_t key,
                 std::uint32_t first, int count, Models<Problem::kModels>* out) {
  for (int i = 0; i < count; ++i) {
    std::uint32_t drawn[Problem::kSample];
    draw_sample(problem.search.seed, key, first + i, Stream::samples,
                std::uint32_t(points.x1.size()), problem.search.sample, drawn);
    out[i] = problem.make(gather<Problem::kSample>(points, drawn, problem.search.sample));
  }
}

template <class Problem>
class HostRansac : public Ransac<Problem> {
  using Metric = typename Problem::Metric;

 public:
  HostRansac(const Context& context, const Problem& problem)
      : context_(context), problem_(problem) {}

  void run(std::span<const RansacPair> pairs, typename Ransac<Problem>::Outcomes out,
           const std::function<void()>& meanwhile) override {
    if (meanwhile) meanwhile();
    core::parallel_for(context_, int(pairs.size()), 1, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) run_one(pairs[i], out[i]);
    });
  }

 private:
  // The state of a pair during its rounds.
  struct HostPair {
    HostTeam<Metric> team;
    Search search;
    std::uint64_t key = 0;
  };

  void run_one(const RansacPair& input, RansacOutcome<typename Problem::Outcome>& out) const {
    HostPair pair;
    pair.key = input.key;
    pair.team.set(input.matches);
    Search& search = pair.search;
    search = begin_search(input.given.scales.first > 0 ? input.given : normalise(pair.team));
    pair.team.apply(search.normalisation, problem_.search.threshold);
    while (!search.ended()) end_round(problem_, pair.team, best_of_round(pair), search);
    out.outcome = problem_.conclude(pair.team, input.key, search);
    out.normalisation = search.normalisation;
    const auto inlier = problem_.inlier_of(out.outcome, search.normalisation.scales);
    for (int i = 0; i < pair.team.count(); ++i) input.inliers[i] = inlier(pair.team.point(i));
  }

  // The best hypothesis of the next round.
  RoundBest best_of_round(const HostPair& pair) const {
    const int size = next_round(pair.search, problem_.search);
    std::vector<RoundBest> parts(core::divide_up(size, kSamplesPerPiece));
    core::parallel_for(context_, size, kSamplesPerPiece, [&](int begin, int end) {
      RoundBest best;
      for (int i = begin; i < end; i += kLookGroup) {
        add_group(pair, i, std::min(kLookGroup, end - i), best);
      }
      parts[begin / kSamplesPerPiece] = best;
    });
    return *std::min_element(parts.begin(), parts.end(),
                             [](const RoundBest& a, const RoundBest& b) { return a.key < b.key; });
  }

  // Scores a group of samples: preemptive scoring selects the models that are scored on all points.
  void add_group(const HostPair& pair, int in_round, int count, RoundBest& best) const {
    constexpr int kModels = Problem::kModels;
    Models<kModels> made[kLookGroup];
    make_models(problem_, pair.team.floats(), pair.key, pair.search.hypotheses + in_round, count,
                made);
    const bool looks = looks_first(pair.team.count());
    std::uint64_t keys[kLookGroup * kModels];  // sorted up to the number that is kept
    int models = 0;
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < made[i].count; ++k) {
        keys[models++] = round_key(looks ? look_cost(pair, made[i].m[k]) : 0, i * kModels + k);
      }
      if (made[i].fixed) {
        best.key = std::min(best.key, round_key(kRefused, (in_round + i) * kModels));
      }
    }
    if (looks) {
      const int kept = std::min(kLookKept, models);
      std::partial_sort(keys, keys + kept, keys + models);
      models = kept;
    }
    for (int j = 0; j < models; ++j) {
      const std::uint32_t number = number_of(keys[j]);
      const Matrix3<float>& m = made[number / kModels].m[number % kModels];
      const Score score =
          score_points(Metric(), pair.team.floats(), pair.team.cost_scale(), m, best.cost());
      const std::uint64_t key = round_key(score.cost, in_round * kModels + number);
      if (key < best.key) best = {key, m};
    }
  }

  static std::uint32_t look_cost(const HostPair& pair, const Matrix3<float>& m) {
    return score_points(Metric(), pair.team.look(), pair.team.cost_scale(), m, kNoCost).cost;
  }

  Context context_;
  Problem problem_;
};

template <class Problem>
std::unique_ptr<Ransac<Problem>> make_host_ransac(const Context& context, const Problem& problem) {
  return std::make_unique<HostRansac<Problem>>(context, problem);
}

}  // namespace cornea::geometry
