// SPDX-License-Identifier: Apache-2.0
// F from 7 correspondences: up to three matrices of rank 2 in their two-dimensional null space.
#pragma once

#include "cornea/geometry/algebra/rank_two.h"
#include "cornea/geometry/algebra/reflections.h"
#include "cornea/geometry/solvers/epipolar_system.h"
#include "cornea/geometry/solvers/fundamental_models.h"

namespace cornea::geometry {

// The roots of c[0] + c[1] x + c[2] x^2 + c[3] x^3 in [-1, 1], by bisection between the extrema.
CORNEA_HD inline int roots_near_zero(const float (&c)[4], float (&roots)[3]) {
  auto value = [&](float x) { return ((c[3] * x + c[2]) * x + c[1]) * x + c[0]; };
  float ends[4] = {-1, 1, 1, 1};
  int intervals = 1;
  const float a = 3 * c[3], b = c[2], d = b * b - a * c[1];
  if (d > 0) {
    // the roots of a x^2 + 2 b x + c[1], without cancellation
    const float q = -(b + (b < 0 ? -sqrtf(d) : sqrtf(d)));
    float first = q / a, second = c[1] / q;
    if (second < first) {
      const float swap = first;
      first = second;
      second = swap;
    }
    for (const float turning : {first, second}) {
      if (turning > -1 && turning < 1) ends[intervals++] = turning;
    }
    ends[intervals] = 1;
  }
  int count = 0;
  for (int i = 0; i < intervals; ++i) {
    float low = ends[i], high = ends[i + 1];
    const bool rises = value(low) < 0;
    if (rises == (value(high) < 0)) continue;
    for (int iteration = 0; iteration < 28; ++iteration) {
      const float middle = (low + high) / 2;
      ((value(middle) < 0) == rises ? low : high) = middle;
    }
    roots[count++] = (low + high) / 2;
  }
  return count;
}

// det(a + x b) = c[0] + c[1] x + c[2] x^2 + c[3] x^3
CORNEA_HD inline void determinant_cubic(const Matrix3<float>& a, const Matrix3<float>& b,
                                        float (&c)[4]) {
  const Matrix3<float> ca = cofactors(a), cb = cofactors(b);
  auto product = [](const Matrix3<float>& m, const Matrix3<float>& n) {
    float sum = 0;
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) sum += m.v[i] * n.v[i];
    return sum;
  };
  c[0] = product(a, ca) / 3;
  c[1] = product(b, ca);
  c[2] = product(a, cb);
  c[3] = product(b, cb) / 3;
}

// The matrices of rank 2 in the null space of 7 correspondences.
CORNEA_HD inline FundamentalModels from_seven(const Sample<float, kLargestSample>& s) {
  Reflections<7, float> system;
  CORNEA_UNROLL
  for (int i = 0; i < 7; ++i) epipolar_row(s.x1[i], s.y1[i], s.x2[i], s.y2[i], system.v[i]);
  system.factorise();
  FundamentalModels result;
  if (!(system.rank > kLeastRank)) return result;
  const Matrix3<float> a = system.null_vector(7), b = system.null_vector(8);
  float c[4], roots[3];
  determinant_cubic(a, b, c);
  // a + x b for |x| <= 1, then x a + b for |x| < 1: together the whole null space.
  for (int side = 0; side < 2; ++side) {
    const int count = roots_near_zero(c, roots);
    for (int i = 0; i < count && result.count < 3; ++i) {
      const float x = roots[i];
      if (side == 1 && fabsf(x) == 1) continue;
      Matrix3<float> f;
      CORNEA_UNROLL
      for (int k = 0; k < 9; ++k) {
        f.v[k] = side == 0 ? a.v[k] + x * b.v[k] : x * a.v[k] + b.v[k];
      }
      add_model(f, s, 7, result);
    }
    const float c0 = c[0], c1 = c[1];
    c[0] = c[3];
    c[1] = c[2];
    c[2] = c1;
    c[3] = c0;
  }
  return result;
}

}  // namespace cornea::geometry
