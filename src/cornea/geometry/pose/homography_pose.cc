// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/pose/homography_pose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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
  // R + t n^T / d has the middle singular value 1 and a positive determinant.
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

namespace {

// H = R + t m^T maps the rays of a plane's points; m . x is the inverse depth of ray x.
Matrix3<double> homography_of(const Pose& pose, const Vector3<double>& m) {
  const Vector3<double>& t = pose.translation;
  Matrix3<double> h = pose.rotation;
  const double terms[9] = {t.x * m.x, t.x * m.y, t.x * m.z, t.y * m.x, t.y * m.y,
                           t.y * m.z, t.z * m.x, t.z * m.y, t.z * m.z};
  for (int i = 0; i < 9; ++i) h.v[i] += terms[i];
  return h;
}

// Distance of p to H in the second image; infinite behind the camera.
double distance_to(const Matrix3<double>& h, const PointPair& p) {
  const Vector3<double> y = h * Vector3<double>{p.x1, p.y1, 1};
  if (!(y.z > 0)) return std::numeric_limits<double>::infinity();
  const double x = y.x / y.z - p.x2, v = y.y / y.z - p.y2;
  return std::sqrt(x * x + v * v);
}

// The plane of a pose's points by iteratively reweighted least squares of (x2 x H x1) = 0, which is
// linear in m. The weights approach the sum of distances, which few points off the plane hardly
// move. None if most points clearly lie off every plane.
std::optional<Matrix3<double>> fit_plane(const Pose& pose, std::span<const PointPair> points,
                                         double limit) {
  constexpr int kIterations = 10;
  std::vector<double> weights(points.size(), 1);
  Matrix3<double> h;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::array<Vector3<double>, 3> rows{};
    Vector3<double> right{};
    for (std::size_t i = 0; i < points.size(); ++i) {
      const PointPair& p = points[i];
      const Vector3<double> x = {p.x1, p.y1, 1}, y = {p.x2, p.y2, 1};
      const Vector3<double> of_t = cross(y, pose.translation), of_r = cross(y, pose.rotation * x);
      const double w = weights[i] * dot(of_t, of_t), b = -weights[i] * dot(of_t, of_r);
      rows[0] = sum(rows[0], scaled(x, w * x.x));
      rows[1] = sum(rows[1], scaled(x, w * x.y));
      rows[2] = sum(rows[2], scaled(x, w));
      right = sum(right, scaled(x, b));
    }
    const Vector3<double> c0 = cross(rows[1], rows[2]), c1 = cross(rows[2], rows[0]),
                          c2 = cross(rows[0], rows[1]);
    const double determinant = dot(rows[0], c0);
    if (!(determinant > 0)) return std::nullopt;
    const Vector3<double> m = scaled(
        sum(sum(scaled(c0, right.x), scaled(c1, right.y)), scaled(c2, right.z)), 1 / determinant);
    h = homography_of(pose, m);
    std::size_t on_plane = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double distance = distance_to(h, points[i]);
      on_plane += distance < limit;
      weights[i] = 1 / std::max(distance, limit);
    }
    // Most scenes end here.
    if (iteration > 0 && 4 * on_plane < points.size()) return std::nullopt;
  }
  return h;
}

double cosine_between(const Matrix3<double>& a, const Matrix3<double>& b) {
  double trace = 0;
  for (int i = 0; i < 9; ++i) trace += a.v[i] * b.v[i];
  return (trace - 1) / 2;
}

}  // namespace

bool has_second_pose(const Pose& pose, std::span<const PointPair> inliers, const Scales& scales,
                     double limit, double width) {
  // The fit uses some of the points, because it is made for every pair.
  constexpr std::size_t kMostFitted = 64;
  std::vector<PointPair> some;
  for (std::size_t k = 0, n = std::min(inliers.size(), kMostFitted); k < n; ++k) {
    some.push_back(inliers[k * inliers.size() / n]);
  }
  const auto count = [](std::span<const PointPair> points, const auto& counts) {
    return std::size_t(std::count_if(points.begin(), points.end(), counts));
  };
  const auto h = fit_plane(pose, some, limit);
  const auto on_plane = [&](const PointPair& p) { return distance_to(*h, p) < limit; };
  if (!h || 10 * count(some, on_plane) < 9 * some.size()) return false;
  const std::vector<PlanePose> poses = decompose_homography(*h);
  if (poses.size() < 4) return false;
  // The first two poses are of one plane, the last two of the other one.
  const std::size_t own = cosine_between(poses[0].rotation, pose.rotation) >
                                  cosine_between(poses[2].rotation, pose.rotation)
                              ? 0
                              : 2;
  for (std::size_t k = 2 - own; k < 4 - own; ++k) {
    const Pose other = {poses[k].rotation, unit(poses[k].translation)};
    // About 1 degree of R and 3 degrees of t.
    if (cosine_between(other.rotation, pose.rotation) > 0.99985 &&
        dot(other.translation, pose.translation) > 0.9986) {
      continue;
    }
    const auto in_front = [&](const PointPair& p) {
      return is_in_front_of_both(scaled_depths(other, p));
    };
    if (4 * count(some, in_front) > 3 * some.size() &&
        100 * count(inliers, inlier_test(essential_of(other), scales, width)) >=
            95 * count(inliers, inlier_test(essential_of(pose), scales, width))) {
      return true;
    }
  }
  return false;
}

}  // namespace cornea::geometry
