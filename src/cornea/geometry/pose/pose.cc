// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/pose/pose.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace cornea::geometry {

double angle_degrees(const Pose& pose, const PointPair& p) {
  const Vector3<double> a = pose.rotation * Vector3<double>{p.x1, p.y1, 1}, b = {p.x2, p.y2, 1};
  const Vector3<double> c = cross(a, b);
  // The arc cosine would be inaccurate for small angles.
  return std::atan2(std::sqrt(dot(c, c)), dot(a, b)) * 180 / std::numbers::pi;
}

double median_angle_degrees(const Pose& pose, std::span<const PointPair> inliers) {
  // Sorts by the cosines, which are cheaper, and computes the angle only for the middle ones.
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < inliers.size(); ++i) {
    const PointPair& p = inliers[i];
    if (!is_in_front_of_both(scaled_depths(pose, p))) continue;
    const Vector3<double> a = pose.rotation * Vector3<double>{p.x1, p.y1, 1}, b = {p.x2, p.y2, 1};
    order.emplace_back(-dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)), i);
  }
  if (order.empty()) return 0;
  const auto middle = order.begin() + order.size() / 2;
  std::nth_element(order.begin(), middle, order.end());
  const double above = angle_degrees(pose, inliers[middle->second]);
  if (order.size() % 2 == 1) return above;
  const auto below = std::max_element(order.begin(), middle);
  return (above + angle_degrees(pose, inliers[below->second])) / 2;
}

}  // namespace cornea::geometry
