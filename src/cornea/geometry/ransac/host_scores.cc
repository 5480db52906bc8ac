// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/ransac/host_scores.h"

#include <algorithm>

#include "cornea/core/simd.h"

namespace cornea::geometry {

using namespace core;

namespace {

constexpr int kBlock = 64;  // points between two checks of the limit

bool all_of(Choices choices) {
  std::int32_t all = -1;
  for (int i = 0; i < kLanes<float>; ++i) all &= choices[i];
  return all != 0;
}

}  // namespace

CORNEA_VECTOR_CLONES
Score score_points(EpipolarMetric, const FloatPoints& points, const CostScale& scale,
                   const Matrix3<float>& f, std::uint32_t limit) {
  const int n = static_cast<int>(points.x1.size());
  const float *x1 = points.x1.data(), *y1 = points.y1.data();
  const float *x2 = points.x2.data(), *y2 = points.y2.data();
  const Matrix3<float> m = f;
  Score score{0, 0};
  for (int begin = 0; begin < n && score.cost <= limit; begin += kBlock) {
    const int end = std::min(n, begin + kBlock);
    int i = begin;
    Choices cost{}, inliers{};
    for (; i + kLanes<float> <= end; i += kLanes<float>) {
      const auto terms = epipolar_terms<float, Floats>(m, load_pack(x1 + i), load_pack(y1 + i),
                                                       load_pack(x2 + i), load_pack(y2 + i));
      // Most points are far from the epipolar lines of a wrong hypothesis.
      if (all_of(surely_outlier(terms, scale))) {
        cost += kCostSteps;
        continue;
      }
      const Floats share = squared_distance(terms, scale.r, scale.rr) * scale.inverse;
      const Choices inside = share < 1.0f;
      cost += __builtin_convertvector(choose(inside, share, Floats{} + 1.0f) * kCostSteps, Choices);
      inliers -= inside;
    }
    for (int lane = 0; lane < kLanes<float>; ++lane) {
      score.cost += cost[lane];
      score.inliers += inliers[lane];
    }
    for (; i < end; ++i) {
      const float share = EpipolarMetric::share(m, x1[i], y1[i], x2[i], y2[i], scale);
      score.cost += cost_of(share);
      score.inliers += share < 1.0f;
    }
  }
  return score;
}

CORNEA_VECTOR_CLONES
Score score_points(TransferMetric, const FloatPoints& points, const CostScale& scale,
                   const Matrix3<float>& h, std::uint32_t limit) {
  const int n = static_cast<int>(points.x1.size());
  const float *x1 = points.x1.data(), *y1 = points.y1.data();
  const float *x2 = points.x2.data(), *y2 = points.y2.data();
  const TransferMetric::Prepared<float> m = TransferMetric::prepared(h);
  Score score{0, 0};
  for (int begin = 0; begin < n && score.cost <= limit; begin += kBlock) {
    const int end = std::min(n, begin + kBlock);
    int i = begin;
    Choices cost{}, inliers{};
    for (; i + kLanes<float> <= end; i += kLanes<float>) {
      const Floats share =
          squared_transfer<float, Floats>(m.h, m.g, load_pack(x1 + i), load_pack(y1 + i),
                                          load_pack(x2 + i), load_pack(y2 + i), scale.r) *
          scale.inverse;
      const Choices inside = share < 1.0f;
      cost += __builtin_convertvector(choose(inside, share, Floats{} + 1.0f) * kCostSteps, Choices);
      inliers -= inside;
    }
    for (int lane = 0; lane < kLanes<float>; ++lane) {
      score.cost += cost[lane];
      score.inliers += inliers[lane];
    }
    for (; i < end; ++i) {
      const float share = TransferMetric::share(m, x1[i], y1[i], x2[i], y2[i], scale);
      score.cost += cost_of(share);
      score.inliers += share < 1.0f;
    }
  }
  return score;
}

}  // namespace cornea::geometry
