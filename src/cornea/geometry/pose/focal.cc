// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/pose/focal.h"

#include <cmath>

namespace cornea::geometry {
namespace {

// The squared focal length of the first camera, with principal points at 0:
// -(p^T [e]x I F p) (p^T F^T p) / (p^T [e]x I F I F^T p), p = (0, 0, 1), I = diag(1, 1, 0), e the
// epipole of the second image.
double squared_focal(const Matrix3<double>& f) {
  const Matrix3<double> c = cofactors(f);
  Vector3<double> e{};
  double longest = -1;
  for (int j = 0; j < 3; ++j) {
    const Vector3<double> column = {c.v[j], c.v[3 + j], c.v[6 + j]};
    if (dot(column, column) > longest) {
      longest = dot(column, column);
      e = column;
    }
  }
  // p^T [e]x I = (-e.y, e.x, 0)
  const Vector3<double> row = {-e.y, e.x, 0};
  const Matrix3<double> t = transposed(f);
  const Vector3<double> g = t * row;                 // (row F)^T
  const Vector3<double> last = {f.v[6], f.v[7], 0};  // I F^T p
  return -g.z * f.v[8] / dot(g, last);
}

}  // namespace

std::optional<FocalLengths> focal_lengths(const Matrix3<double>& f, double cx1, double cy1,
                                          double cx2, double cy2) {
  // Coordinates relative to the principal points, scaled so that the entries have similar
  // magnitudes.
  double scale = 1;
  for (const double c : {cx1, cy1, cx2, cy2}) scale = std::fmax(scale, std::abs(c));
  const Matrix3<double> first = {{scale, 0, cx1, 0, scale, cy1, 0, 0, 1}};
  const Matrix3<double> second = {{scale, 0, cx2, 0, scale, cy2, 0, 0, 1}};
  const Matrix3<double> g = transposed(second) * f * first;
  const double a = squared_focal(g), b = squared_focal(transposed(g));
  if (!(a > 0 && b > 0 && std::isfinite(a) && std::isfinite(b))) return std::nullopt;
  return FocalLengths{scale * std::sqrt(a), scale * std::sqrt(b)};
}

}  // namespace cornea::geometry
