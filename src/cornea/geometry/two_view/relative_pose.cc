// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/relative_pose.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cornea {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<double, 9>;

Vector row(const Matrix& m, int i) { return {m[3 * i], m[3 * i + 1], m[3 * i + 2]}; }

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double length(const Vector& v) { return std::hypot(v[0], v[1], v[2]); }

// The null vector of a matrix of rank 2 as a pixel: the longest cross product of two of its rows.
std::optional<std::array<double, 2>> null_pixel(const Matrix& m) {
  constexpr double kFar = 1e6;  // pixels
  Vector best{};
  for (const auto& [i, j] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
    const Vector v = cross(row(m, i), row(m, j));
    if (length(v) > length(best)) best = v;
  }
  if (std::hypot(best[0], best[1]) >= kFar * std::abs(best[2])) return std::nullopt;
  return std::array<double, 2>{best[0] / best[2], best[1] / best[2]};
}

Matrix transposed(const Matrix& m) {
  return {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]};
}

}  // namespace

Rotation rotation_of(const Matrix& R) {
  // 2 sin(a) times the axis; the trace of R is 2 cos(a) + 1.
  const Vector twice = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
  const double sine = length(twice) / 2, cosine = (R[0] + R[4] + R[8] - 1) / 2;
  if (R == Matrix{}) return {};  // there is no pose
  const double angle = std::atan2(sine, cosine);
  Rotation rotation{angle * 180 / std::numbers::pi, {}};
  if (sine > 1e-6) {
    for (int k = 0; k < 3; ++k) rotation.axis[k] = twice[k] / (2 * sine);
  } else if (cosine < 0) {  // 180 degrees: R + I = 2 axis axis^T
    int largest = 0;
    for (int k = 1; k < 3; ++k) {
      if (R[4 * k] > R[4 * largest]) largest = k;
    }
    Vector column = {R[largest], R[3 + largest], R[6 + largest]};
    column[largest] += 1;
    // Just below 180 degrees `twice` still says which of the two directions it is.
    const double along = twice[0] * column[0] + twice[1] * column[1] + twice[2] * column[2];
    const double norm = along < 0 ? -length(column) : length(column);
    for (int k = 0; k < 3; ++k) rotation.axis[k] = column[k] / norm;
  } else if (sine > 0) {  // a small rotation
    for (int k = 0; k < 3; ++k) rotation.axis[k] = twice[k] / (2 * sine);
  }
  return rotation;
}

Matrix fundamental_of(const Matrix& E, const IntrinsicsPair& cameras) {
  // K^-1 = [1/fx 0 -cx/fx; 0 1/fy -cy/fy; 0 0 1].
  const Intrinsics &a = cameras.first, &b = cameras.second;
  Matrix right{};  // E K1^-1
  for (int i = 0; i < 3; ++i) {
    const Vector e = row(E, i);
    right[3 * i] = e[0] / a.fx;
    right[3 * i + 1] = e[1] / a.fy;
    right[3 * i + 2] = e[2] - e[0] * a.cx / a.fx - e[1] * a.cy / a.fy;
  }
  Matrix F{};
  for (int j = 0; j < 3; ++j) {
    F[j] = right[j] / b.fx;
    F[3 + j] = right[3 + j] / b.fy;
    F[6 + j] = right[6 + j] - right[j] * b.cx / b.fx - right[3 + j] * b.cy / b.fy;
  }
  double squares = 0, largest = 0;
  for (const double v : F) {
    squares += v * v;
    if (std::abs(v) > std::abs(largest)) largest = v;
  }
  if (!(squares > 0) || !std::isfinite(squares)) return {};
  const double scale = (largest < 0 ? -1 : 1) / std::sqrt(squares);
  for (double& v : F) v *= scale;
  return F;
}

Epipoles epipoles_of(const Matrix& F) { return {null_pixel(F), null_pixel(transposed(F))}; }

std::optional<std::array<double, 2>> undistorted(const Intrinsics& camera, double u, double v) {
  if (!camera.is_distorted()) return std::array<double, 2>{u, v};
  const auto place = camera.place(u, v);
  if (!place) return std::nullopt;
  return std::array<double, 2>{camera.fx * (*place)[0] + camera.cx,
                               camera.fy * (*place)[1] + camera.cy};
}

std::optional<Correspondence> undistorted(const IntrinsicsPair& cameras,
                                          const Correspondence& match) {
  const auto a = undistorted(cameras.first, match.x1, match.y1);
  const auto b = undistorted(cameras.second, match.x2, match.y2);
  if (!a || !b) return std::nullopt;
  return Correspondence{float((*a)[0]), float((*a)[1]), float((*b)[0]), float((*b)[1])};
}

}  // namespace cornea
