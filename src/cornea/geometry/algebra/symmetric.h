// SPDX-License-Identifier: Apache-2.0
// Small symmetric systems in double, shared by CPU and CUDA. Matrices are packed: the lower
// triangle, row by row.
#pragma once

#include <cmath>

#include "cornea/core/host_device.h"

namespace cornea::geometry {

CORNEA_HD constexpr int packed(int row, int column) { return row * (row + 1) / 2 + column; }
CORNEA_HD constexpr int packed_size(int n) { return n * (n + 1) / 2; }

// M = L D L^T in place, with a unit diagonal in L and D stored on the diagonal.
template <int n>
CORNEA_HD inline void factorise_symmetric(double* m) {
  CORNEA_UNROLL
  for (int j = 0; j < n; ++j) {
    CORNEA_UNROLL
    for (int k = 0; k < j; ++k) {
      const double l = m[packed(j, k)];
      m[packed(j, j)] -= l * l * m[packed(k, k)];
    }
    const double inverse = 1 / m[packed(j, j)];
    CORNEA_UNROLL
    for (int i = j + 1; i < n; ++i) {
      double v = m[packed(i, j)];
      CORNEA_UNROLL
      for (int k = 0; k < j; ++k) v -= m[packed(i, k)] * m[packed(j, k)] * m[packed(k, k)];
      m[packed(i, j)] = v * inverse;
    }
  }
}

// x becomes M^-1 x, for a factorised M.
template <int n>
CORNEA_HD inline void solve_symmetric(const double* m, double* x) {
  CORNEA_UNROLL
  for (int i = 0; i < n; ++i) {
    CORNEA_UNROLL
    for (int k = 0; k < i; ++k) x[i] -= m[packed(i, k)] * x[k];
  }
  CORNEA_UNROLL
  for (int i = 0; i < n; ++i) x[i] /= m[packed(i, i)];
  CORNEA_UNROLL
  for (int i = n - 1; i >= 0; --i) {
    CORNEA_UNROLL
    for (int k = i + 1; k < n; ++k) x[i] -= m[packed(k, i)] * x[k];
  }
}

// The eigenvector of the smallest eigenvalue of a positive definite M, by inverse iteration: x
// becomes M^-1 x repeatedly, and a good start needs few iterations. M is overwritten. If two
// eigenvalues are nearly equal, the result is a mixture of their eigenvectors.
template <int n>
CORNEA_HD inline void smallest_eigenvector(double* m, double* x, int iterations = 5) {
  double trace = 0;
  CORNEA_UNROLL
  for (int i = 0; i < n; ++i) trace += m[packed(i, i)];
  // Far below any noise; without this shift the matrix of exact data is singular.
  constexpr double kShift = 1e-14;
  CORNEA_UNROLL
  for (int i = 0; i < n; ++i) m[packed(i, i)] += kShift * trace;
  factorise_symmetric<n>(m);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    solve_symmetric<n>(m, x);
    double length = 0;
    CORNEA_UNROLL
    for (int i = 0; i < n; ++i) length += x[i] * x[i];
    length = 1 / sqrt(length);
    CORNEA_UNROLL
    for (int i = 0; i < n; ++i) x[i] *= length;
  }
}

}  // namespace cornea::geometry
