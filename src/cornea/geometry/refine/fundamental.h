// SPDX-License-Identifier: Apache-2.0
// Minimises the Sampson error over the 7 degrees of freedom of F, F = U diag(1, s, 0) V^T (A.
// Bartoli, P. Sturm, PAMI 2004), shared by CPU and CUDA. `Team`: points.h.
#pragma once

#include <cmath>

#include "cornea/geometry/algebra/frame.h"
#include "cornea/geometry/algebra/symmetric.h"
#include "cornea/geometry/refine/levenberg.h"
#include "cornea/geometry/scoring/sampson.h"

namespace cornea::geometry {

inline constexpr int kFundamentalUnknowns = 7;
inline constexpr int kFundamentalSums = normal_sums(kFundamentalUnknowns);

// The normal equations of Sampson's error r (scoring/sampson.h) at a frame, with the loss
// z / (1 + z), z = r^2 / width^2 (Geman and McClure), and the loss itself.
template <class Team>
CORNEA_HD void normal_equations(Team& team, const EpipolarFrame& frame, double k, double width,
                                double (&sums)[kFundamentalSums]) {
  const Matrix3<double> f = matrix_of(frame);
  const double inverse = 1 / (width * width);
  team.template sums<kFundamentalSums>(sums, [&](const PointPair& p, double* terms) {
    const auto [l2, l1, e, g] = sampson_terms(f, p, k);
    if (!(g > 0)) return false;
    const double norm = 1 / sqrt(g), r = e * norm, z = r * r * inverse;
    const double loss = 1.0f / (1.0f + float(z)), weight = loss * loss;
    // dr for the change u_i v_j^T of F
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
    const double s = frame.s, d01 = change(0, 1), d10 = change(1, 0);
    const double j[kFundamentalUnknowns] = {s * change(2, 1), -change(2, 0), d10 - s * d01,
                                            s * change(1, 2), -change(0, 2), d01 - s * d10,
                                            change(1, 1)};
    CORNEA_UNROLL
    for (int i = 0; i < kFundamentalUnknowns; ++i) {
      const double w = weight * j[i];
      CORNEA_UNROLL
      for (int m = 0; m < kFundamentalUnknowns; ++m) {
        if (m <= i) terms[packed(i, m)] = w * j[m];
      }
      terms[packed_size(kFundamentalUnknowns) + i] = w * r;
    }
    terms[kFundamentalSums - 1] = z * loss;
    return true;
  });
}

// The width of the loss divided by the threshold. The sum of both epipolar distances is about 2.8
// times the Sampson error.
inline constexpr double kLossWidth = 0.25;

// Levenberg-Marquardt. `width` in normalised units of the second image.
template <class Team>
CORNEA_HD Matrix3<double> minimise(Team& team, const Matrix3<double>& start, const Scales& scales,
                                   double width, int steps = 10) {
  const double r = scales.first / scales.second, k = r * r;
  EpipolarFrame frame = frame_of(start);
  double sums[kFundamentalSums], trial_sums[kFundamentalSums];
  normal_equations(team, frame, k, width, sums);
  double damping = 1e-4;
  for (int i = 0; i < steps; ++i) {
    double m[packed_size(kFundamentalUnknowns)], x[kFundamentalUnknowns];
    CORNEA_UNROLL
    for (int j = 0; j < packed_size(kFundamentalUnknowns); ++j) m[j] = sums[j];
    double trace = 0;
    CORNEA_UNROLL
    for (int j = 0; j < kFundamentalUnknowns; ++j) {
      trace += m[packed(j, j)];
      x[j] = -sums[packed_size(kFundamentalUnknowns) + j];
    }
    CORNEA_UNROLL
    for (int j = 0; j < kFundamentalUnknowns; ++j) {
      m[packed(j, j)] += damping * m[packed(j, j)] + 1e-12 * trace;
    }
    factorise_symmetric<kFundamentalUnknowns>(m);
    solve_symmetric<kFundamentalUnknowns>(m, x);
    EpipolarFrame trial = frame;
    rotate(trial.u, x[0], x[1], x[2]);
    rotate(trial.v, x[3], x[4], x[5]);
    trial.s += x[6];
    normal_equations(team, trial, k, width, trial_sums);
    const double gain = sums[kFundamentalSums - 1] - trial_sums[kFundamentalSums - 1];
    double finite = trial.s;  // a step that is not finite is rejected
    CORNEA_UNROLL
    for (int j = 0; j < kFundamentalUnknowns; ++j) finite += x[j];
    if (gain > 0 && finite - finite == 0) {
      const bool settled = gain < 1e-6 * sums[kFundamentalSums - 1];
      frame = trial;
      CORNEA_UNROLL
      for (int j = 0; j < kFundamentalSums; ++j) sums[j] = trial_sums[j];
      damping *= 0.1;
      if (settled) break;
    } else {
      damping *= 10;
      if (!(damping < 1e4)) break;
    }
  }
  return matrix_of(frame);
}

}  // namespace cornea::geometry
