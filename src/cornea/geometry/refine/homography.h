// SPDX-License-Identifier: Apache-2.0
// Refinement of H, shared by CPU and CUDA: linear least squares over its inliers, and minimisation
// of the symmetric transfer error over its 8 degrees of freedom. `Team`: points.h.
#pragma once

#include "cornea/geometry/algebra/frame.h"
#include "cornea/geometry/refine/levenberg.h"
#include "cornea/geometry/refine/local_fundamental.h"
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

// The normal equations of the transfer errors a = H x1 - x2 and b = r (H^-1 x2 - x1) at an H of
// norm 1, with the loss z / (1 + z), z = (|a|^2 + |b|^2) / width^2 (Geman and McClure), and the
// loss itself; r is the second scale divided by the first, all in units of the second image.
template <class Team>
CORNEA_HD void plane_equations(Team& team, const Matrix3<double>& h, double r, double width,
                               double (&sums)[normal_sums(kPlaneUnknowns)]) {
  constexpr int kSums = normal_sums(kPlaneUnknowns);
  const SphereFrame sphere(h);
  const Matrix3<double> g = inverse_direction(h);
  const double determinant = h.v[0] * g.v[0] + h.v[1] * g.v[3] + h.v[2] * g.v[6];
  const double inverse = 1 / (width * width), back = -r / determinant;
  team.template sums<kSums>(sums, [&](const PointPair& p, double* terms) {
    CORNEA_UNROLL
    for (int i = 0; i < kSums; ++i) terms[i] = 0;
    const Vector3<double> a = h * Vector3<double>{p.x1, p.y1, 1};
    const Vector3<double> b = g * Vector3<double>{p.x2, p.y2, 1};
    const double az = 1 / a.z, bz = 1 / b.z;
    const double ax = a.x * az, ay = a.y * az, bx = b.x * bz, by = b.y * bz;
    const double r0 = ax - p.x2, r1 = ay - p.y2, r2 = r * (bx - p.x1), r3 = r * (by - p.y1);
    const double z = (r0 * r0 + r1 * r1 + r2 * r2 + r3 * r3) * inverse;
    terms[kSums - 1] = 1;
    if (!(z < 1e6)) return true;  // too far away to be an inlier after any step
    const double loss = 1 / (1 + z), weight = loss * loss;
    terms[kSums - 1] = z * loss;
    // Adds one residual, whose derivative with respect to H's entry (i, j) is q_i s_j.
    auto add = [&](double residual, const Vector3<double>& q, const Vector3<double>& s) {
      double full[9] = {q.x * s.x, q.x * s.y, q.x * s.z, q.y * s.x, q.y * s.y,
                        q.y * s.z, q.z * s.x, q.z * s.y, q.z * s.z};
      sphere.reflect(full);
      double j[kPlaneUnknowns];
      CORNEA_UNROLL
      for (int i = 0; i < kPlaneUnknowns; ++i) j[i] = full[i];
      add_residual<kPlaneUnknowns>(residual, j, weight, terms);
    };
    const Vector3<double> first = {p.x1 * az, p.y1 * az, az};
    add(r0, {1, 0, -ax}, first);
    add(r1, {0, 1, -ay}, first);
    // d(H^-1) = -H^-1 dH H^-1
    const Vector3<double> second = scaled(b, back * bz);
    add(r2, {g.v[0] - bx * g.v[6], g.v[1] - bx * g.v[7], g.v[2] - bx * g.v[8]}, second);
    add(r3, {g.v[3] - by * g.v[6], g.v[4] - by * g.v[7], g.v[5] - by * g.v[8]}, second);
    return true;
  });
}

// The width of the loss in pixels per threshold. The threshold limits the sum of both transfer
// distances; the root of the sum of their squares is about 0.7 of it.
inline constexpr double kPlaneLossWidth = 0.5;

// `width` in pixels. The result has norm 1.
template <class Team>
CORNEA_HD Matrix3<double> minimise_homography(Team& team, const Matrix3<double>& start,
                                              const Scales& scales, double width) {
  const double r = scales.second / scales.first, w = width * scales.second;
  return levenberg_marquardt<kPlaneUnknowns>(
      normalised(start),
      [&](const Matrix3<double>& h, double(&sums)[normal_sums(kPlaneUnknowns)]) {
        plane_equations(team, h, r, w, sums);
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
