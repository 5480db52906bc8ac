// SPDX-License-Identifier: Apache-2.0
// Levenberg-Marquardt minimisation of a robust sum of squares over the points of a team (see
// points.h), shared by CPU and CUDA.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/symmetric.h"

namespace cornea::geometry {

// J^T W J, packed, then J^T W r, then the loss.
CORNEA_HD constexpr int normal_sums(int unknowns) { return packed_size(unknowns) + unknowns + 1; }

// Adds one residual r with derivatives j and a weight to the sums.
template <int unknowns>
CORNEA_HD inline void add_residual(double r, const double (&j)[unknowns], double weight,
                                   double* terms) {
  CORNEA_UNROLL
  for (int i = 0; i < unknowns; ++i) {
    const double w = weight * j[i];
    CORNEA_UNROLL
    for (int m = 0; m < unknowns; ++m) {
      if (m <= i) terms[packed(i, m)] += w * j[m];
    }
    terms[packed_size(unknowns) + i] += w * r;
  }
}

// The step that solves the damped normal equations, with A = J^T W J:
// -(A + damping diag(A) + 1e-12 trace(A) I)^-1 J^T W r.
template <int unknowns>
CORNEA_HD inline void solve_step(const double (&sums)[normal_sums(unknowns)], double damping,
                                 double (&x)[unknowns]) {
  double m[packed_size(unknowns)];
  CORNEA_UNROLL
  for (int j = 0; j < packed_size(unknowns); ++j) m[j] = sums[j];
  double trace = 0;
  CORNEA_UNROLL
  for (int j = 0; j < unknowns; ++j) {
    trace += m[packed(j, j)];
    x[j] = -sums[packed_size(unknowns) + j];
  }
  CORNEA_UNROLL
  for (int j = 0; j < unknowns; ++j) m[packed(j, j)] += damping * m[packed(j, j)] + 1e-12 * trace;
  factorise_symmetric<unknowns>(m);
  solve_symmetric<unknowns>(m, x);
}

// equations(state, sums) computes the normal equations and the loss at a state; moved(state, x) is
// the state after a step.
template <int unknowns, class State, class Equations, class Moved>
CORNEA_HD State levenberg_marquardt(State state, const Equations& equations, const Moved& moved,
                                    int iterations = 10) {
  constexpr int kSums = normal_sums(unknowns);
  double sums[kSums], trial_sums[kSums];
  equations(state, sums);
  double damping = 1e-4;
  for (int i = 0; i < iterations; ++i) {
    double x[unknowns];
    solve_step<unknowns>(sums, damping, x);
    double finite = 0;  // a step that is not finite is rejected
    CORNEA_UNROLL
    for (int j = 0; j < unknowns; ++j) finite += x[j];
    const State trial = moved(state, x);
    equations(trial, trial_sums);
    const double gain = sums[kSums - 1] - trial_sums[kSums - 1];
    if (gain > 0 && finite - finite == 0) {
      const bool settled = gain < 1e-6 * sums[kSums - 1];
      state = trial;
      CORNEA_UNROLL
      for (int j = 0; j < kSums; ++j) sums[j] = trial_sums[j];
      damping *= 0.1;
      if (settled) break;
    } else {
      damping *= 10;
      if (!(damping < 1e4)) break;
    }
  }
  return state;
}

}  // namespace cornea::geometry
