#include "cornea/geometry/fundamental/host_team.h"

#include "cornea/core/simd.h"

namespace cornea::geometry {

using namespace core;

void HostTeam::set(std::span<const Correspondence> matches) {
  points_.resize(matches.size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    points_[i] = {matches[i].x1, matches[i].y1, matches[i].x2, matches[i].y2};
  }
}

void HostTeam::apply(const Normalisation& normalisation, double threshold) {
  const std::size_t n = points_.size();
  floats_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const PointPair p = points_[i];
    const PointPair q = normalisation(float(p.x1), float(p.y1), float(p.x2), float(p.y2));
    points_[i] = q;
    floats_.x1[i] = float(q.x1);
    floats_.y1[i] = float(q.y1);
    floats_.x2[i] = float(q.x2);
    floats_.y2[i] = float(q.y2);
  }
  look_.resize(looks_first(count()) ? kLookMatches : 0);
  for (std::size_t k = 0; k < look_.x1.size(); ++k) {
    const int i = look_match(int(k), count());
    look_.x1[k] = floats_.x1[i];
    look_.y1[k] = floats_.y1[i];
    look_.x2[k] = floats_.x2[i];
    look_.y2[k] = floats_.y2[i];
  }
  scale_ = geometry::cost_scale(normalisation.scales, threshold);
}

namespace {

bool all_of(Choices choices) {
  std::int32_t all = -1;
  for (int i = 0; i < kLanes<float>; ++i) all &= choices[i];
  return all != 0;
}

}  // namespace

CORNEA_VECTOR_CLONES
Score score_points(const FloatPoints& points, const CostScale& scale, const Matrix3<float>& f,
                   std::uint32_t limit) {
  constexpr int kBlock = 64;  // points between looks at the limit
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
      // Most points are far from the lines of a wrong hypothesis.
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
      const float share =
          squared_distance(m, x1[i], y1[i], x2[i], y2[i], scale.r, scale.rr) * scale.inverse;
      score.cost += cost_of(share);
      score.inliers += share < 1.0f;
    }
  }
  return score;
}

}  // namespace cornea::geometry
