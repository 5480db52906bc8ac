// SPDX-License-Identifier: Apache-2.0
// A Gauss-Newton step towards an essential matrix, shared by CPU and CUDA. It restores the digits
// that a solver's polynomial loses if its roots lie close to each other.
#pragma once

#include "cornea/geometry/algebra/matrix3.h"
#include "cornea/geometry/algebra/symmetric.h"
#include "cornea/geometry/solvers/rolled.h"

namespace cornea::geometry {

// For a matrix of norm about 1 that depends on 4 numbers, given by its derivatives: `step` becomes
// the Gauss-Newton step towards E E^T E = tr(E E^T) E / 2. `held` is the direction in which the
// numbers must not change, because it only changes the scale. False if E satisfies the equation to
// the last digits.
CORNEA_HD inline bool essential_step(const Matrix3<double>& e,
                                     const Matrix3<double> (&derivative)[4],
                                     const double (&held)[4], double (&step)[4]) {
  constexpr double kExact = 1e-28;
  const Matrix3<double> left = e * transposed(e), right = transposed(e) * e;
  const double half = (left.v[0] + left.v[4] + left.v[8]) / 2;
  const Matrix3<double> cube = left * e;
  double r[9], error = 0;
  CORNEA_UNROLL
  for (int i = 0; i < 9; ++i) {
    r[i] = cube.v[i] - half * e.v[i];
    error += r[i] * r[i];
  }
  if (!(error > kExact)) return false;
  double m[packed_size(4)];
  Matrix3<double> change[4];
  CORNEA_ROLLED
  for (int c = 0; c < 4; ++c) {
    const Matrix3<double>& d = derivative[c];
    double along = 0;
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) along += d.v[i] * e.v[i];
    const Matrix3<double> a = d * right, b = e * (transposed(d) * e), f = left * d;
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) {
      change[c].v[i] = a.v[i] + b.v[i] + f.v[i] - along * e.v[i] - half * d.v[i];
    }
  }
  CORNEA_ROLLED
  for (int i = 0; i < 4; ++i) {
    step[i] = 0;
    CORNEA_UNROLL
    for (int l = 0; l < 9; ++l) step[i] -= change[i].v[l] * r[l];
    CORNEA_ROLLED
    for (int j = 0; j <= i; ++j) {
      double v = held[i] * held[j];
      CORNEA_UNROLL
      for (int l = 0; l < 9; ++l) v += change[i].v[l] * change[j].v[l];
      m[packed(i, j)] = v;
    }
  }
  factorise_symmetric<4>(m);
  solve_symmetric<4>(m, step);
  return true;
}

}  // namespace cornea::geometry
