// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/pose/homography_pose.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cornea::geometry {
namespace {

// The middle eigenvalue of a symmetric matrix, by Viete's formula for three real roots.
double middle_eigenvalue(const Matrix3<double>& s) {
  const double mean = (s.v[0] + s.v[4] + s.v[8]) / 3;
  const double a = s.v[0] - mean, b = s.v[4] - mean, c = s.v[8] - mean;
  const double off = s.v[1] * s.v[1] + s.v[2] * s.v[2] + s.v[5] * s.v[5];
  const double p = std::sqrt((a * a + b * b + c * c + 2 * off) / 6);
  if (!(p > 0)) return mean;
  const double determinant = a * (b * c - s.v[5] * s.v[5]) -
                             s.v[1] * (s.v[1] * c - s.v[5] * s.v[2]) +
                             s.v[2] * (s.v[1] * s.v[5] - b * s.v[2]);
  const double half = std::clamp(determinant / (2 * p * p * p), -1.0, 1.0);
  const double angle = std::acos(half) / 3;
  return mean + 2 * p * std::cos(angle - 2 * std::numbers::pi / 3);
}

double determinant(const Matrix3<double>& m) {
  const Matrix3<double> c = cofactors(m);
  return m.v[0] * c.v[0] + m.v[1] * c.v[1] + m.v[2] * c.v[2];
}

// The minor of S without a row and a column, with the opposite sign, as the paper defines it.
double opposite_minor(const Matrix3<double>& s, int row, int column) {
  const int r0 = row == 0, r1 = row == 2 ? 1 : 2, c0 = column == 0, c1 = column == 2 ? 1 : 2;
  return s.v[3 * r0 + c1] * s.v[3 * r1 + c0] - s.v[3 * r0 + c0] * s.v[3 * r1 + c1];
}

double sign_of(double v) { return v < 0 ? -1 : 1; }

// R = H (I - 2 / v t* n^T)
Matrix3<double> rotation_of(const Matrix3<double>& h, const Vector3<double>& t,
                            const Vector3<double>& n, double v) {
  const Vector3<double> a = scaled(t, 2 / v);
  Matrix3<double> rotation =
      h * Matrix3<double>{{1 - a.x * n.x, -a.x * n.y, -a.x * n.z, -a.y * n.x, 1 - a.y * n.y,
                           -a.y * n.z, -a.z * n.x, -a.z * n.y, 1 - a.z * n.z}};
  // Where two singular values are equal or the plane is almost edge-on, its columns are orthonormal
  // to 1e-2 only. Each step, R (3 I - R^T R) / 2, squares that.
  for (int step = 0; step < 3; ++step) {
    Matrix3<double> factor = transposed(rotation) * rotation;
    for (int i = 0; i < 9; ++i) factor.v[i] = (3 * (i % 4 == 0) - factor.v[i]) / 2;
    rotation = rotation * factor;
  }
  return rotation;
}

}  // namespace

std::vector<PlanePose> decompose_homography(const Matrix3<double>& homography) {
  // The middle singular value of R + t n^T / d is 1; its determinant is positive.
  const double middle = middle_eigenvalue(transposed(homography) * homography);
  const double scale = std::sqrt(middle) * sign_of(determinant(homography));
  Matrix3<double> h = homography;
  for (double& v : h.v) v /= scale;
  for (double v : h.v) {
    if (!std::isfinite(v)) return {};
  }
  // A plane that is nearer to edge-on than this does not determine a rotation.
  constexpr double kEdgeOn = 1e-7;
  if (!(determinant(h) > kEdgeOn)) return {};
  Matrix3<double> s = transposed(h) * h;
  for (int i = 0; i < 3; ++i) s.v[4 * i] -= 1;
  double largest = 0;
  for (double v : s.v) largest = std::max(largest, std::abs(v));
  constexpr double kRotation = 1e-3;
  if (largest < kRotation) {
    // The nearest rotation: H (H^T H)^-1/2, as a series that is accurate to 1e-9 here.
    Matrix3<double> factor;
    const Matrix3<double> square = s * s;
    for (int i = 0; i < 9; ++i) factor.v[i] = (i % 4 == 0) - s.v[i] / 2 + 3 * square.v[i] / 8;
    return {{h * factor, {0, 0, 0}, {0, 0, 0}}};
  }
  const double m00 = std::max(0.0, opposite_minor(s, 0, 0));
  const double m11 = std::max(0.0, opposite_minor(s, 1, 1));
  const double m22 = std::max(0.0, opposite_minor(s, 2, 2));
  const double r00 = std::sqrt(m00), r11 = std::sqrt(m11), r22 = std::sqrt(m22);
  const double e01 = sign_of(opposite_minor(s, 0, 1)), e02 = sign_of(opposite_minor(s, 0, 2));
  const double e12 = sign_of(opposite_minor(s, 1, 2));
  const double s00 = s.v[0], s01 = s.v[1], s02 = s.v[2], s11 = s.v[4], s12 = s.v[5], s22 = s.v[8];
  // The two normals, computed from the largest diagonal entry.
  Vector3<double> n1, n2;
  double diagonal;
  if (std::abs(s00) >= std::abs(s11) && std::abs(s00) >= std::abs(s22)) {
    diagonal = s00;
    n1 = {s00, s01 + r22, s02 + e12 * r11};
    n2 = {s00, s01 - r22, s02 - e12 * r11};
  } else if (std::abs(s11) >= std::abs(s22)) {
    diagonal = s11;
    n1 = {s01 + r22, s11, s12 - e02 * r00};
    n2 = {s01 - r22, s11, s12 + e02 * r00};
  } else {
    diagonal = s22;
    n1 = {s02 + e01 * r11, s12 + r00, s22};
    n2 = {s02 - e01 * r11, s12 - r00, s22};
  }
  n1 = unit(n1), n2 = unit(n2);
  const double trace = s00 + s11 + s22;
  const double v = 2 * determinant(h);  // 2 sqrt(1 + trace - m00 - m11 - m22), without cancellation
  const double r = std::sqrt(2 + trace + v), length = std::sqrt(std::max(0.0, 2 + trace - v));
  const double along = sign_of(diagonal) * r;
  auto translation = [&](const Vector3<double>& mine, const Vector3<double>& other) {
    return scaled(sum(scaled(other, along), scaled(mine, -length)), length / 2);
  };
  std::vector<PlanePose> poses;
  for (int k = 0; k < 2; ++k) {
    const Vector3<double>&n = k == 0 ? n1 : n2, &other = k == 0 ? n2 : n1;
    const Vector3<double> star = translation(n, other);
    const Matrix3<double> rotation = rotation_of(h, star, n, v);
    const Vector3<double> t = rotation * star;
    poses.push_back({rotation, t, n});
    poses.push_back({rotation, scaled(t, -1), scaled(n, -1)});
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
