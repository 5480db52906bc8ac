// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/ransac/host_team.h"

#include "cornea/geometry/scoring/preemptive.h"

namespace cornea::geometry {

void HostPoints::set(std::span<const Correspondence> matches) {
  points_.resize(matches.size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    points_[i] = {matches[i].x1, matches[i].y1, matches[i].x2, matches[i].y2};
  }
}

void HostPoints::apply(const Normalisation& normalisation, double threshold) {
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

}  // namespace cornea::geometry
