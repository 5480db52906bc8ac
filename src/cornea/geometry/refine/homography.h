// SPDX-License-Identifier: Apache-2.0
// Refinement of H, shared by CPU and CUDA: linear least squares over its inliers, and minimisation
// of Sampson's error over its 8 degrees of freedom. `Team`: points.h.
#pragma once

#include "cornea/geometry/algebra/frame.h"
#include "cornea/geometry/refine/levenberg.h"
#include "cornea/geometry/scoring/model.h"
#include "cornea/geometry/scoring/transfer.h"

namespace cornea::geometry {

inline constexpr int kPlaneUnknowns = 8;

CORNEA_HD inline Matrix3<double> normalised(const Matrix3<double>& m) {
  double norm = 0;
  CORNEA_UNROLL
  for (int i = 0; i < 9; ++i) norm += m.v[i] * m.v[i];
  norm = 1 / sqrt(norm);
  Matrix3<double> result;
  CORNEA_UNROLL
  for (int i = 0; i < 9; ++i) result.v[i] = m.v[i] * norm;
  return result;
}

// --- Parameterisation --------------------------------------------------------------------------

// H of norm 1 as a point on the unit sphere: the reflection that maps it to the last axis maps its
// 8 tangent directions to the other axes.
struct SphereFrame {
  double v[9], factor;
  double side;  // 1 or -1: the end of the last axis to which H is mapped

  CORNEA_HD explicit SphereFrame(const Matrix3<double>& h) {
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) v[i] = h.v[i];
    side = h.v[8] < 0 ? 1 : -1;
    v[8] -= side;
    factor = 1 / (1 - side * h.v[8]);  // 2 / |v|^2
  }
  CORNEA_HD void reflect(double (&x)[9]) const {
    double along = 0;
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) along += v[i] * x[i];
    along *= factor;
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) x[i] -= along * v[i];
  }
};

CORNEA_HD inline Matrix3<double> moved_plane(const Matrix3<double>& h,
                                             const double (&x)[kPlaneUnknowns]) {
  double step[9];
  CORNEA_UNROLL
  for (int i = 0; i < 8; ++i) step[i] = x[i];
  step[8] = 0;
  SphereFrame(h).reflect(step);
  Matrix3<double> result;
  CORNEA_UNROLL
  for (int i = 0; i < 9; ++i) result.v[i] = h.v[i] + step[i];
  return normalised(result);
}

// --- Minimisation ------------------------------------------------------------------------------

// Sampson's error of a correspondence with respect to H: to first order, its squared distance to
// the nearest correspondence that satisfies H, both images together,
//
//   e^T C^-1 e,   e = H x1 - x2,   C = I + k A A^T,   A = d(H x1) / d(x1),
//
// in units of the second image; k = (first scale / second scale)^2. If the plane is foreshortened
// in one image, the transfer error in the other exceeds this error by that factor and dominates a
// fit that minimises it.
//
// The normal equations of this error at an H of norm 1, with Tukey's loss (1 - (1 - z)^3) / 3,
// z = error / width^2, constant from z = 1 on, and the loss itself. Where the nearest
// correspondence is at quite another depth, near the line that H maps to infinity, the first order
// says nothing: the loss is that of an outlier.
template <class Team>
CORNEA_HD void plane_equations(Team& team, const Matrix3<double>& h, double k, double width,
                               double (&sums)[normal_sums(kPlaneUnknowns)]) {
  constexpr int kSums = normal_sums(kPlaneUnknowns);
  constexpr double kOutlierLoss = 1 / 3.0;
  constexpr double kMostDeeper = 0.5;  // change of depth, as a fraction of the depth
  const SphereFrame sphere(h);
  const double inverse = 1 / (width * width);
  team.template sums<kSums>(sums, [&](const PointPair& p, double* terms) {
    CORNEA_UNROLL
    for (int i = 0; i < kSums; ++i) terms[i] = 0;
    const Vector3<double> a = h * Vector3<double>{p.x1, p.y1, 1};
    const double az = 1 / a.z, ax = a.x * az, ay = a.y * az;
    const double e0 = ax - p.x2, e1 = ay - p.y2;
    const double a00 = (h.v[0] - ax * h.v[6]) * az, a01 = (h.v[1] - ax * h.v[7]) * az;
    const double a10 = (h.v[3] - ay * h.v[6]) * az, a11 = (h.v[4] - ay * h.v[7]) * az;
    // C = L D L^T with L = (1, 0; ratio, 1) and D = (1 / d0, 1 / d1). The residuals r = L^-1 e are
    // independent. The determinant is that of I + k A A^T, at least 1.
    const double c00 = 1 + k * (a00 * a00 + a01 * a01), c01 = k * (a00 * a10 + a01 * a11);
    const double c11 = 1 + k * (a10 * a10 + a11 * a11), area = k * (a00 * a11 - a01 * a10);
    const double determinant = c00 + c11 - 1 + area * area;
    const double product = 1 / (c00 * determinant);
    const double d0 = determinant * product, d1 = c00 * c00 * product, ratio = c01 * d0;
    const double r0 = e0, r1 = e1 - ratio * e0;
    const double z = (r0 * r0 * d0 + r1 * r1 * d1) * inverse;
    terms[kSums - 1] = kOutlierLoss;
    const double l1 = r1 * d1, l0 = r0 * d0 - ratio * l1;
    const double dx = -k * (a00 * l0 + a10 * l1), dy = -k * (a01 * l0 + a11 * l1);
    const double deeper = az * (h.v[6] * dx + h.v[7] * dy);
    if (!(z < 1 && fabs(deeper) < kMostDeeper)) return true;
    const double rest = 1 - z, weight = rest * rest;
    terms[kSums - 1] = kOutlierLoss * (1 - weight * rest);
    // H is differentiated at the x1 of the nearest correspondence, which is -k A^T C^-1 e away and
    // to first order is mapped to (bx, by): this accounts for the derivatives of C.
    const double bx = ax + a00 * dx + a01 * dy, by = ay + a10 * dx + a11 * dy;
    const double bz = az * (1 - deeper);
    const Vector3<double> s = {(p.x1 + dx) * bz, (p.y1 + dy) * bz, bz};
    // Adds one residual, whose derivative with respect to H's entry (i, j) is q_i s_j.
    auto add = [&](double residual, double factor, const Vector3<double>& q) {
      double full[9] = {q.x * s.x, q.x * s.y, q.x * s.z, q.y * s.x, q.y * s.y,
                        q.y * s.z, q.z * s.x, q.z * s.y, q.z * s.z};
      sphere.reflect(full);
      double j[kPlaneUnknowns];
      CORNEA_UNROLL
      for (int i = 0; i < kPlaneUnknowns; ++i) j[i] = full[i];
      add_residual<kPlaneUnknowns>(residual, j, weight * factor, terms);
    };
    add(r0, d0, {1, 0, -bx});
    add(r1, d1, {-ratio, 1, ratio * bx - by});
    return true;
  });
}

// The width of the loss divided by the threshold. The threshold limits the sum of both transfer
// distances, which without foreshortening is 2.8 times the root of Sampson's error.
inline constexpr double kPlaneLossWidth = 0.5;

// `width` in pixels. The result has norm 1.
template <class Team>
CORNEA_HD Matrix3<double> minimise_homography(Team& team, const Matrix3<double>& start,
                                              const Scales& scales, double width) {
  const double r = scales.first / scales.second, w = width * scales.second;
  return levenberg_marquardt<kPlaneUnknowns>(
      normalised(start),
      [&](const Matrix3<double>& h, double(&sums)[normal_sums(kPlaneUnknowns)]) {
        plane_equations(team, h, r * r, w, sums);
      },
      moved_plane);
}

// --- Linear least squares ----------------------------------------------------------------------

// The linear fit over the inliers of H. The weights turn the algebraic error into the transfer
// error and fall to 0 towards the threshold, in pixels.
template <class Team>
CORNEA_HD Matrix3<double> refit_homography(Team& team, const Matrix3<double>& h,
                                           const Scales& scales, double threshold) {
  const Matrix3<double> g = inverse_direction(h);
  const double r = scales.second / scales.first, t = threshold * scales.second;
  const double inverse = 1 / (t * t);
  double m[packed_size(9)];
  team.template sums<packed_size(9)>(m, [&](const PointPair& p, double* terms) {
    const double share = squared_transfer(h, g, p.x1, p.y1, p.x2, p.y2, r) * inverse;
    if (!(share < 1)) return false;
    const double depth = h.v[6] * p.x1 + h.v[7] * p.y1 + h.v[8];
    const double inside = (1 - share) / depth, weight = inside * inside;
    double a[9], b[9];
    transfer_rows(p.x1, p.y1, p.x2, p.y2, a, b);
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) {
      const double wa = weight * a[i], wb = weight * b[i];
      CORNEA_UNROLL
      for (int j = 0; j < 9; ++j) {
        if (j <= i) terms[packed(i, j)] = wa * a[j] + wb * b[j];
      }
    }
    return true;
  });
  Matrix3<double> next = h;
  constexpr int kIterations = 3;
  smallest_eigenvector<9>(m, next.v, kIterations);
  return next;
}

// Local optimisation (LO-RANSAC): refits with a narrowing threshold; the one with the best
// score(H), the Score of a Matrix3<float>, is kept. model.f is H.
template <class Team, class ScoreOf>
CORNEA_HD void optimise_homography(Team& team, const Scales& scales, double threshold,
                                   const ScoreOf& score_of, Model& model) {
  Matrix3<double> h = normalised(model.f);
  constexpr int kRefits = 3;
  constexpr double kWidest = 3;  // thresholds
  for (int i = 0; i < kRefits; ++i) {
    const double width = kWidest - (kWidest - 1) * i / (kRefits - 1);
    h = refit_homography(team, h, scales, width * threshold);
    const Score score = score_of(converted<float>(h));
    if (score.cost < model.score.cost) model = {h, score};
  }
}

}  // namespace cornea::geometry
