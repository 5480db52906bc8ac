// SPDX-License-Identifier: Apache-2.0
// Refinement of E, shared by CPU and CUDA: minimises the Sampson error over the 5 degrees of
// freedom of a pose, and optimises hypotheses locally. `Team`: points.h. refine/shared_focal.h adds
// a focal length as the 6th unknown.
#pragma once

#include "cornea/geometry/pose/pose.h"
#include "cornea/geometry/refine/levenberg.h"
#include "cornea/geometry/scoring/model.h"

namespace cornea::geometry {

// E = u0 v0^T + u1 v1^T: three rotations of U and two of V; the third rotation of V is equivalent
// to that of U.
inline constexpr int kPoseUnknowns = 5;

// The derivative of F with respect to an unknown beyond those of a pose; E has none.
struct NoFurther {
  static constexpr int kUnknowns = 0;
};

// The normal equations of Sampson's error r (scoring/sampson.h) at a frame of f, with the loss
// z / (1 + z), z = r^2 / width^2 (Geman and McClure), and the loss itself. Width and error are in
// units of the second image. `further` is the derivative of f with respect to a 6th unknown, if
// any.
template <class Team, class Further = NoFurther>
CORNEA_HD void pose_equations(Team& team, const Matrix3<double>& f, const EpipolarFrame& frame,
                              double k, double width,
                              double (&sums)[normal_sums(kPoseUnknowns + Further::kUnknowns)],
                              const Further& further = {}) {
  constexpr int kUnknowns = kPoseUnknowns + Further::kUnknowns, kSums = normal_sums(kUnknowns);
  const double inverse = 1 / (width * width);
  team.template sums<kSums>(sums, [&](const PointPair& p, double* terms) {
    const auto [l2, l1, e, g] = sampson_terms(f, p, k);
    if (!(g > 0)) return false;
    const double norm = 1 / sqrt(g), r = e * norm, z = r * r * inverse;
    const double loss = 1 / (1 + z), weight = loss * loss;
    // dr for the change u_i v_j^T of E
    double a[3], b[3], c[3], d[3];
    CORNEA_UNROLL
    for (int i = 0; i < 3; ++i) {
      const Vector3<double>&u = frame.u[i], &v = frame.v[i];
      a[i] = u.x * p.x2 + u.y * p.y2 + u.z;
      b[i] = v.x * p.x1 + v.y * p.y1 + v.z;
      c[i] = l2.x * u.x + l2.y * u.y;
      d[i] = k * (l1.x * v.x + l1.y * v.y);
    }
    const double share = r * norm;  // e / g
    auto change = [&](int i, int j) {
      return (a[i] * b[j] - share * (c[i] * b[j] + d[j] * a[i])) * norm;
    };
    double j[kUnknowns] = {change(2, 1), -change(2, 0), change(1, 0) - change(0, 1), change(1, 2),
                           -change(0, 2)};
    if constexpr (Further::kUnknowns > 0) j[kPoseUnknowns] = further(p, l2, l1, k, share) * norm;
    CORNEA_UNROLL
    for (int i = 0; i < kSums; ++i) terms[i] = 0;
    add_residual<kUnknowns>(r, j, weight, terms);
    terms[kSums - 1] = z * loss;
    return true;
  });
}

CORNEA_HD inline EpipolarFrame moved_frame(EpipolarFrame frame, const double (&x)[kPoseUnknowns]) {
  rotate(frame.u, x[0], x[1], x[2]);
  rotate(frame.v, x[3], x[4], 0);
  return frame;
}

// The width of the loss divided by the threshold. The threshold limits the sum of both epipolar
// distances, which is about 2.8 times the Sampson error.
inline constexpr double kPoseLossWidth = 0.4;

// The manifold of the minimisation: a state, the matrix that it represents, and the normal
// equations.
struct PoseManifold {
  static constexpr int kUnknowns = kPoseUnknowns;
  using State = EpipolarFrame;
  CORNEA_HD static State at(const Matrix3<double>& e) { return essential_frame(e); }
  CORNEA_HD static Matrix3<double> matrix(const State& state) { return matrix_of(state); }
  CORNEA_HD static State moved(const State& state, const double (&x)[kUnknowns]) {
    return moved_frame(state, x);
  }
  template <class Team>
  CORNEA_HD static void equations(Team& team, const State& state, double k, double width,
                                  double (&sums)[normal_sums(kUnknowns)]) {
    pose_equations(team, matrix_of(state), state, k, width, sums);
  }
};

// Minimises over a manifold, starting from the matrix m; `width` in pixels.
template <class Manifold, class Team>
CORNEA_HD Matrix3<double> minimise_on(Team& team, const Matrix3<double>& m, const Scales& scales,
                                      double width, int iterations = 10) {
  constexpr int kUnknowns = Manifold::kUnknowns;
  const double r = scales.first / scales.second, k = r * r, w = width * scales.second;
  return Manifold::matrix(levenberg_marquardt<kUnknowns>(
      Manifold::at(m),
      [&](const typename Manifold::State& state, double(&sums)[normal_sums(kUnknowns)]) {
        Manifold::equations(team, state, k, w, sums);
      },
      Manifold::moved, iterations));
}

// The pose of least Sampson error near a start: the one of the resulting E's four poses that is
// nearest to the start.
template <class Team>
CORNEA_HD Pose minimise_pose(Team& team, const Pose& start, const Scales& scales, double width) {
  Pose poses[4];
  poses_of(essential_frame(minimise_on<PoseManifold>(team, essential_of(start), scales, width)),
           poses);
  // The two candidates for R differ by a rotation by 180 degrees about t.
  double near[2];
  CORNEA_UNROLL
  for (int k = 0; k < 2; ++k) {
    near[k] = 0;
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) near[k] += poses[2 * k].rotation.v[i] * start.rotation.v[i];
  }
  const int of = near[1] > near[0] ? 2 : 0;
  return dot(poses[of].translation, start.translation) < 0 ? poses[of + 1] : poses[of];
}

// Local optimisation (LO-RANSAC): reweighted steps with a narrowing threshold. The model with the
// best score is kept, because a step may fail if there are few inliers.
template <class Manifold, class Team>
CORNEA_HD void optimise_on(Team& team, const Scales& scales, double threshold, Model& model) {
  constexpr int kUnknowns = Manifold::kUnknowns;
  const double r = scales.first / scales.second, k = r * r;
  const CostScale scale = cost_scale(scales, threshold);
  constexpr int kSteps = 4;
  constexpr double kWidest = 3;  // thresholds
  typename Manifold::State state = Manifold::at(model.f);
  for (int i = 0; i < kSteps; ++i) {
    const double wide = kWidest - (kWidest - 1) * i / (kSteps - 1);
    double sums[normal_sums(kUnknowns)], x[kUnknowns];
    Manifold::equations(team, state, k, kPoseLossWidth * wide * threshold * scales.second, sums);
    solve_step<kUnknowns>(sums, 1e-6, x);
    double length = 0;
    CORNEA_UNROLL
    for (int j = 0; j < kUnknowns; ++j) length += x[j] * x[j];
    if (!(length < 1)) break;  // not finite, or too large for the linearisation
    state = Manifold::moved(state, x);
    const Matrix3<double> m = Manifold::matrix(state);
    const Score score = team.score(converted<float>(m), scale);
    if (score.cost < model.score.cost) model = {m, score};
  }
}

// --- Pure rotation -----------------------------------------------------------------------------

// The rotation that maps the rays of the first image to those of the second with the least
// Geman-McClure loss of |x2 - R x1|; width in pixels of the second image.
template <class Team>
CORNEA_HD Matrix3<double> minimise_rotation(Team& team, const Matrix3<double>& start,
                                            const Scales& scales, double width) {
  constexpr int kSums = normal_sums(3);
  const double w = width * scales.second, inverse = 1 / (w * w);
  struct Axes {
    Vector3<double> v[3];  // R's columns
  };
  const double* m = start.v;
  const Axes axes = levenberg_marquardt<3>(
      Axes{{{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}}},
      [&](const Axes& at, double(&sums)[kSums]) {
        team.template sums<kSums>(sums, [&](const PointPair& p, double* terms) {
          CORNEA_UNROLL
          for (int i = 0; i < kSums; ++i) terms[i] = 0;
          const Vector3<double> q = sum(sum(scaled(at.v[0], p.x1), scaled(at.v[1], p.y1)), at.v[2]);
          const double depth = 1 / q.z, x = q.x * depth, y = q.y * depth;
          const double rx = x - p.x2, ry = y - p.y2, z = (rx * rx + ry * ry) * inverse;
          terms[kSums - 1] = 1;
          if (!(q.z > 0 && z < 1e6)) return true;  // too far away to be an inlier after any step
          const double loss = 1 / (1 + z), weight = loss * loss;
          terms[kSums - 1] = z * loss;
          // The derivatives with respect to the three rotations.
          const Vector3<double> change[3] = {sum(scaled(at.v[2], p.y1), scaled(at.v[1], -1)),
                                             sum(at.v[0], scaled(at.v[2], -p.x1)),
                                             sum(scaled(at.v[1], p.x1), scaled(at.v[0], -p.y1))};
          double jx[3], jy[3];
          CORNEA_UNROLL
          for (int i = 0; i < 3; ++i) {
            jx[i] = (change[i].x - x * change[i].z) * depth;
            jy[i] = (change[i].y - y * change[i].z) * depth;
          }
          add_residual<3>(rx, jx, weight, terms);
          add_residual<3>(ry, jy, weight, terms);
          return true;
        });
      },
      [](Axes at, const double(&x)[3]) {
        rotate(at.v, x[0], x[1], x[2]);
        return at;
      });
  const Vector3<double>&a = axes.v[0], &b = axes.v[1], &c = axes.v[2];
  return {{a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z}};
}

}  // namespace cornea::geometry
