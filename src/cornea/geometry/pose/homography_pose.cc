// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/pose/homography_pose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace cornea::geometry {
namespace {

// H = W diag(sigma) V^T with descending singular values of which only the last may be negative, and
// rotations W and V, whose columns are kept.
struct Decomposition {
  std::array<Vector3<double>, 3> w, v;
  std::array<double, 3> sigma;
};

// One-sided Jacobi: pairs of columns are rotated until all are orthogonal. They become W
// diag(sigma) and the product of the rotations V, both orthogonal to the last digits however small
// a singular value is. H is finite.
Decomposition decomposed(const Matrix3<double>& h) {
  std::array<Vector3<double>, 3> w, v = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int i = 0; i < 3; ++i) w[i] = {h.v[i], h.v[3 + i], h.v[6 + i]};
  constexpr int kMostSweeps = 30;  // 4 to 6 are usual
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < kMostSweeps; ++sweep) {
    rotated = false;
    for (const auto& [p, q] : {std::pair{0, 1}, {0, 2}, {1, 2}}) {
      const double pp = dot(w[p], w[p]), qq = dot(w[q], w[q]), pq = dot(w[p], w[q]);
      if (std::abs(pq) <= 1e-15 * std::sqrt(pp) * std::sqrt(qq)) continue;
      rotated = true;
      const double zeta = (qq - pp) / (2 * pq);
      const double t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
      const double c = 1 / std::sqrt(1 + t * t), s = c * t;
      for (auto* columns : {&w, &v}) {
        const Vector3<double> a = (*columns)[p], b = (*columns)[q];
        (*columns)[p] = sum(scaled(a, c), scaled(b, -s));
        (*columns)[q] = sum(scaled(a, s), scaled(b, c));
      }
    }
  }
  Decomposition result;
  std::array<int, 3> order = {0, 1, 2};
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return dot(w[a], w[a]) > dot(w[b], w[b]); });
  for (int i = 0; i < 2; ++i) {
    result.sigma[i] = std::sqrt(dot(w[order[i]], w[order[i]]));
    result.w[i] = scaled(w[order[i]], 1 / result.sigma[i]);
    result.v[i] = v[order[i]];
  }
  result.w[2] = cross(result.w[0], result.w[1]);
  result.v[2] = cross(result.v[0], result.v[1]);
  const double sign = dot(result.v[2], v[order[2]]) < 0 ? -1 : 1;
  result.sigma[2] = sign * dot(result.w[2], w[order[2]]);
  return result;
}

// The rotation that maps the columns of one rotation to those of another.
Matrix3<double> rotation_between(const std::array<Vector3<double>, 3>& from,
                                 const std::array<Vector3<double>, 3>& to) {
  const auto rows = [](const std::array<Vector3<double>, 3>& columns) {
    return Matrix3<double>{{columns[0].x, columns[0].y, columns[0].z, columns[1].x, columns[1].y,
                            columns[1].z, columns[2].x, columns[2].y, columns[2].z}};
  };
  return transposed(rows(to)) * rows(from);
}

// Whether all entries of H^T H - I = V diag(s^2 - 1) V^T are small.
bool is_rotation(const std::array<Vector3<double>, 3>& v, double s1, double s3) {
  constexpr double kRotation = 1e-3;
  for (const auto part : {&Vector3<double>::x, &Vector3<double>::y, &Vector3<double>::z}) {
    const Vector3<double> row =
        sum(scaled(v[0], (s1 * s1 - 1) * v[0].*part), scaled(v[2], (s3 * s3 - 1) * v[2].*part));
    if (std::max({std::abs(row.x), std::abs(row.y), std::abs(row.z)}) >= kRotation) return false;
  }
  return true;
}

}  // namespace

// H has the singular values s1 >= 1 >= s3. On two planes through the second right singular vector H
// preserves lengths; either may be that of the scene.
std::vector<PlanePose> decompose_homography(const Matrix3<double>& homography) {
  double largest = 0;
  for (double v : homography.v) {
    if (!std::isfinite(v)) return {};
    largest = std::max(largest, std::abs(v));
  }
  if (largest == 0) return {};
  Matrix3<double> h = homography;
  for (double& v : h.v) v /= largest;
  auto [w, v, sigma] = decomposed(h);
  // The middle singular value of R + t n^T / d is 1, and its determinant is positive.
  if (sigma[2] < 0) w[0] = scaled(w[0], -1), w[1] = scaled(w[1], -1), sigma[2] = -sigma[2];
  constexpr double kSingular = 1e-15;  // of the largest singular value: rounding errors are smaller
  if (!(sigma[2] > kSingular * sigma[0])) return {};
  const double s1 = sigma[0] / sigma[1], s3 = std::min(1.0, sigma[2] / sigma[1]);
  // A plane that is nearer to edge-on than this does not determine a rotation.
  constexpr double kEdgeOn = 1e-7;
  if (!(s1 * s3 > kEdgeOn)) return {};
  if (is_rotation(v, s1, s3)) return {{rotation_between(v, w), {0, 0, 0}, {0, 0, 0}}};
  const double length = std::sqrt(s1 * s1 - s3 * s3);
  const double a = std::sqrt(1 - s3 * s3) / length;
  std::vector<PlanePose> poses;
  for (const double b : {std::sqrt(s1 * s1 - 1) / length, -std::sqrt(s1 * s1 - 1) / length}) {
    const Vector3<double> in_plane = sum(scaled(v[0], a), scaled(v[2], b));
    const Vector3<double> mapped = sum(scaled(w[0], a * s1), scaled(w[2], b * s3));
    const Vector3<double> normal = cross(v[1], in_plane);
    const Matrix3<double> rotation =
        rotation_between({v[1], in_plane, normal}, {w[1], mapped, cross(w[1], mapped)});
    const Vector3<double> t = scaled(sum(scaled(w[2], a), scaled(w[0], b)), s1 - s3);
    poses.push_back({rotation, t, normal});
    poses.push_back({rotation, scaled(t, -1), scaled(normal, -1)});
  }
  return poses;
}

std::optional<PlanePose> choose_plane_pose(const Matrix3<double>& h,
                                           std::span<const PointPair> inliers) {
  std::vector<PlanePose> poses = decompose_homography(h);
  std::optional<PlanePose> best;
  int best_side = -1;
  for (PlanePose& pose : poses) {
    const double length = std::sqrt(dot(pose.translation, pose.translation));
    int side = 0;
    for (const PointPair& p : inliers) {
      const Vector3<double> first = {p.x1, p.y1, 1};
      if (length > 0) {
        const Pose direction = {pose.rotation, scaled(pose.translation, 1 / length)};
        pose.in_front += is_in_front_of_both(scaled_depths(direction, p));
        side += dot(pose.normal, first) > 0;
      } else {
        const Vector3<double> rotated = pose.rotation * first;
        pose.in_front += rotated.z > 0;
      }
    }
    const bool better =
        !best || pose.in_front > best->in_front ||
        (pose.in_front == best->in_front &&
         (side > best_side || (side == best_side && pose.normal.z > best->normal.z)));
    if (better) {
      best = pose;
      best_side = side;
    }
  }
  return best;
}

}  // namespace cornea::geometry
