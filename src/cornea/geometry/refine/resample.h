// SPDX-License-Identifier: Apache-2.0
// LO-RANSAC's inner samples (O. Chum, J. Matas, J. Kittler, DAGM 2003), shared by CPU and CUDA:
// samples drawn from the points near a model and scored with a narrower threshold than the search
// used, at which similar models can be distinguished. For F and E. `Team`: points.h.
#pragma once

#include "cornea/geometry/ransac/search.h"
#include "cornea/geometry/sampling.h"
#include "cornea/geometry/scoring/epipolar.h"

namespace cornea::geometry {

inline constexpr int kInnerJudges = 128;  // each is scored on at most so many points near the model

struct InnerSamples {
  int count;      // samples
  double nearby;  // pixels: largest distance from the model of the points that are drawn
  double width;   // pixels: threshold at which they are scored
};

// make(sample, add) calls add(Matrix3<float>) for each model of a sample of `size`; optimise(model,
// width) is the local optimisation, fit(m, width) the final fit. The new model replaces m if its
// cost is lower at `width` and at most a tenth higher at the threshold of the search. Returns
// whether it did.
template <int size, class Team, class Make, class Optimise, class Fit>
CORNEA_HD bool resample(Team& team, std::uint64_t seed, std::uint64_t pair, const Scales& scales,
                        const InnerSamples& inner, const Make& make, const Optimise& optimise,
                        const Fit& fit, Matrix3<double>& m) {
  constexpr int kFewest = 2 * size;
  constexpr double kNoWorse = 1.1;
  const InlierTest nearby = inlier_test(m, scales, inner.nearby);
  const int count = team.list([&](const PointPair& p) { return nearby(p); });
  if (count < kFewest) return false;
  const CostScale scale = cost_scale(scales, inner.width);
  const int judges = count < kInnerJudges ? count : kInnerJudges;
  const RoundBest best = team.best_of(inner.count, [&](int h, Matrix3<float>& model) {
    std::uint32_t drawn[size];
    draw_sample(seed, pair, h, Stream::inner, count, size, drawn);
    Sample<float, size> s;
    CORNEA_UNROLL
    for (int i = 0; i < size; ++i) {
      const FloatPoint p = team.float_point(team.listed(drawn[i]));
      s.x1[i] = p.x1, s.y1[i] = p.y1, s.x2[i] = p.x2, s.y2[i] = p.y2;
    }
    std::uint32_t least = kNoCost;
    make(s, [&](const Matrix3<float>& made) {
      std::uint32_t cost = 0;
      for (int i = 0; i < judges; ++i) {
        const FloatPoint p = team.float_point(team.listed(int(std::int64_t(i) * count / judges)));
        cost += cost_of(EpipolarMetric::share(made, p.x1, p.y1, p.x2, p.y2, scale));
      }
      if (cost < least) {
        least = cost;
        model = made;
      }
    });
    return least;
  });
  if (!is_cost(best.cost())) return false;
  Model model{converted<double>(best.f), team.score(best.f, scale)};
  optimise(model, inner.width);
  const Matrix3<double> g = fit(model.f, inner.width);
  const Matrix3<float> before = converted<float>(m), after = converted<float>(g);
  const bool better = team.score(after, scale).cost < team.score(before, scale).cost &&
                      team.score(after).cost <= kNoWorse * team.score(before).cost;
  if (better) m = g;
  return better;
}

}  // namespace cornea::geometry
