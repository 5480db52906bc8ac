// The rounds of hypotheses on the CPU.
#include <algorithm>
#include <array>

#include "cornea/core/parallel.h"
#include "cornea/core/simd.h"
#include "cornea/geometry/fundamental/fundamental_backend.h"
#include "cornea/geometry/fundamental/host_team.h"
#include "cornea/geometry/fundamental/hypotheses.h"
#include "cornea/geometry/fundamental/search.h"

namespace cornea::geometry {
namespace {

using namespace core;

constexpr int kTogether = kLanes<float>;  // hypotheses that are made at once, one a lane
constexpr int kGrain = 64;                // hypotheses of a round that one thread takes at a time
static_assert(kGrain % kLookGroup == 0 && kLookGroup % kTogether == 0);

// A pair on its way through the rounds.
struct HostPair {
  HostTeam team;
  Search search;
  std::uint64_t key = 0;
};

void keep_better(const HostPair& pair, const Matrix3<float>& f, std::uint32_t hypothesis,
                 RoundBest& best) {
  const Score score = score_points(pair.team.floats(), pair.team.cost_scale(), f, best.cost());
  const std::uint64_t key = round_key(score.cost, hypothesis);
  if (key < best.key) best = {key, f};
}

// Hypotheses of samples of 8, several at once.
CORNEA_VECTOR_CLONES
void make_eights(const FloatPoints& points, std::uint64_t seed, std::uint64_t pair,
                 std::uint32_t first, Matrix3<float>* out, float* valid) {
  Sample<Floats, 8> s;
  for (int lane = 0; lane < kTogether; ++lane) {
    std::uint32_t drawn[8];
    draw_sample(seed, pair, first + lane, Stream::samples, std::uint32_t(points.x1.size()), 8,
                drawn);
    for (int i = 0; i < 8; ++i) {
      s.x1[i][lane] = points.x1[drawn[i]];
      s.y1[i][lane] = points.y1[drawn[i]];
      s.x2[i][lane] = points.x2[drawn[i]];
      s.y2[i][lane] = points.y2[drawn[i]];
    }
  }
  Floats good;
  const Matrix3<Floats> f = from_eight(s, good);
  for (int lane = 0; lane < kTogether; ++lane) {
    for (int k = 0; k < 9; ++k) out[lane].v[k] = f.v[k][lane];
    valid[lane] = good[lane];
  }
}

Hypotheses make_others(const FloatPoints& points, const FundamentalOptions& options,
                       std::uint64_t pair, std::uint32_t hypothesis) {
  std::uint32_t drawn[kLargestSample];
  draw_sample(options.seed, pair, hypothesis, Stream::samples, std::uint32_t(points.x1.size()),
              options.sample, drawn);
  Sample<float, kLargestSample> s;
  for (int i = 0; i < options.sample; ++i) {
    s.x1[i] = points.x1[drawn[i]];
    s.y1[i] = points.y1[drawn[i]];
    s.x2[i] = points.x2[drawn[i]];
    s.y2[i] = points.y2[drawn[i]];
  }
  return options.sample == 7 ? from_seven(s) : from_many(s, options.sample);
}

class HostFundamental : public FundamentalBackend {
 public:
  HostFundamental(const Context& context, const FundamentalOptions& options)
      : context_(context), options_(options) {}

  void estimate(std::span<const std::span<const Correspondence>> pairs,
                std::span<const std::uint64_t> keys, std::span<FundamentalResult> out,
                const std::function<void()>& meanwhile) override {
    if (meanwhile) meanwhile();
    parallel_for(context_, int(pairs.size()), 1, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) estimate_one(pairs[i], keys[i], out[i]);
    });
  }

 private:
  void estimate_one(std::span<const Correspondence> matches, std::uint64_t key,
                    FundamentalResult& out) const {
    HostPair pair;
    pair.key = key;
    pair.team.set(matches);
    Search& search = pair.search;
    search = begin_search(pair.team);
    pair.team.apply(search.normalisation, options_.threshold);
    while (!search.ended()) end_round(pair.team, options_, best_of_round(pair), search);
    const Outcome outcome = conclude(pair.team, options_, key, search);
    const auto inlier = outcome_test(outcome, search.normalisation.scales, options_.threshold);
    for (int i = 0; i < pair.team.count(); ++i) out.inliers[i] = inlier(pair.team.point(i));
    write_outcome(outcome, search.normalisation, out);
  }

  // The best hypothesis of the next round.
  RoundBest best_of_round(const HostPair& pair) const {
    const int size = next_round(pair.search, options_);
    std::vector<RoundBest> parts(divide_up(size, kGrain));
    parallel_for(context_, size, kGrain, [&](int begin, int end) {
      RoundBest best;
      for (int i = begin; i < end; i += kLookGroup) {
        const std::uint32_t first = pair.search.hypotheses + i;
        const int count = std::min(kLookGroup, end - i);
        options_.sample == 8 ? add_eights(pair, first, count, best)
                             : add_others(pair, first, count, best);
      }
      parts[begin / kGrain] = best;
    });
    return *std::min_element(parts.begin(), parts.end(),
                             [](const RoundBest& a, const RoundBest& b) { return a.key < b.key; });
  }

  void add_eights(const HostPair& pair, std::uint32_t first, int count, RoundBest& best) const {
    Matrix3<float> f[kLookGroup];
    float valid[kLookGroup];
    for (int i = 0; i < count; i += kTogether) {
      make_eights(pair.team.floats(), options_.seed, pair.key, first + i, f + i, valid + i);
    }
    const bool looks = looks_first(pair.team.count());
    std::uint64_t keys[kLookGroup];  // of a first look, the least first
    int models = 0;
    for (int i = 0; i < count; ++i) {
      if (valid[i] > kBehind) {
        keys[models++] = round_key(looks ? look_cost(pair, f[i]) : 0, i);
      } else if (valid[i] == kBehind) {
        best.key = std::min(best.key, round_key(kRefused, first + i));
      }
    }
    if (looks) {
      const int kept = std::min(kLookKept, models);
      std::partial_sort(keys, keys + kept, keys + models);
      models = kept;
    }
    for (int k = 0; k < models; ++k) {
      const std::uint32_t i = hypothesis_of(keys[k]);
      keep_better(pair, f[i], first + i, best);
    }
  }

  static std::uint32_t look_cost(const HostPair& pair, const Matrix3<float>& f) {
    return score_points(pair.team.look(), pair.team.cost_scale(), f, kNoCost).cost;
  }

  void add_others(const HostPair& pair, std::uint32_t first, int count, RoundBest& best) const {
    const FloatPoints& points = pair.team.floats();
    for (int i = 0; i < count; ++i) {
      const Hypotheses made = make_others(points, options_, pair.key, first + i);
      for (int k = 0; k < made.count; ++k) keep_better(pair, made.f[k], first + i, best);
      if (made.fixed) best.key = std::min(best.key, round_key(kRefused, first + i));
    }
  }

  Context context_;
  FundamentalOptions options_;
};

}  // namespace

std::unique_ptr<FundamentalBackend> make_host_fundamental(const Context& context,
                                                          const FundamentalOptions& options) {
  return std::make_unique<HostFundamental>(context, options);
}

}  // namespace cornea::geometry
