// SPDX-License-Identifier: Apache-2.0
// F from a sample of 8 correspondences, for any T (several samples at once on the CPU), or from
// more by least squares.
#pragma once

#include "cornea/geometry/algebra/rank_two.h"
#include "cornea/geometry/algebra/reflections.h"
#include "cornea/geometry/algebra/symmetric.h"
#include "cornea/geometry/solvers/epipolar_system.h"
#include "cornea/geometry/solvers/fundamental_models.h"

namespace cornea::geometry {

// F of rank 2 from 8 correspondences. Sets `valid` to 1, to 0 if they do not determine F, or to
// kBehind if points would lie behind a camera.
inline constexpr float kBehind = 0.5f;
template <class T>
CORNEA_HD inline Matrix3<T> from_eight(const Sample<T, 8>& s, T& valid) {
  Reflections<8, T> system;
  CORNEA_UNROLL
  for (int i = 0; i < 8; ++i) epipolar_row(s.x1[i], s.y1[i], s.x2[i], s.y2[i], system.v[i]);
  system.factorise();
  Vector3<T> left;
  const Matrix3<T> f = rank_two(system.null_vector(8), left);
  const T side = oriented(f, left, s);
  const T fixed = choose(side > 0.0f, side, T{} + kBehind);
  valid = choose(system.rank > kLeastRank, fixed, T{});
  return f;
}

// Least squares, for 9 correspondences or more.
CORNEA_HD inline FundamentalModels from_many(const Sample<float, kLargestSample>& s, int points) {
  double m[packed_size(9)] = {};
  for (int k = 0; k < points; ++k) {
    double row[9];
    epipolar_row<double>(s.x1[k], s.y1[k], s.x2[k], s.y2[k], row);
    for (int i = 0; i < 9; ++i) {
      for (int j = 0; j <= i; ++j) m[packed(i, j)] += row[i] * row[j];
    }
  }
  double trace = 0, x[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (int i = 0; i < 9; ++i) trace += m[packed(i, i)];
  smallest_eigenvector<9>(m, x);
  // The factorisation leaves the pivots on the diagonal. One of them is small; a second small one
  // means that there are two solutions.
  constexpr double kSmallPivot = 1e-11;
  int small = 0;
  for (int i = 0; i < 9; ++i) small += !(m[packed(i, i)] > kSmallPivot * trace);
  FundamentalModels result;
  if (small > 1) return result;
  Matrix3<float> f;
  for (int i = 0; i < 9; ++i) f.v[i] = float(x[i]);
  add_model(f, s, points, result);
  return result;
}

}  // namespace cornea::geometry
