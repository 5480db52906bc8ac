// SPDX-License-Identifier: Apache-2.0
// The nearest matrix of rank 2 and its left null vector, with a fixed number of operations.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/lanes.h"
#include "cornea/geometry/algebra/matrix3.h"

namespace cornea::geometry {

// The nearest matrix of rank 2 is F - F v v^T, where v is the right singular vector of the smallest
// singular value. C = cof(F) has the singular values s1 s2, s1 s3, s2 s3, of which the largest
// belongs to v: in powers of C^T C it dominates. `left` becomes F's left null vector, the epipole
// of the second image.
template <class T>
CORNEA_HD inline Matrix3<T> rank_two(const Matrix3<T>& f, Vector3<T>& left) {
  const Matrix3<T> c = cofactors(f);
  Matrix3<T> b = transposed(c) * c;
  CORNEA_UNROLL
  for (int i = 0; i < 3; ++i) {
    const T trace = b.v[0] + b.v[4] + b.v[8];
    const T scale = 1.0f / trace;
    CORNEA_UNROLL
    for (int k = 0; k < 9; ++k) b.v[k] *= scale;
    b = b * b;
  }
  // All columns are multiples of v; the longest is the most accurate.
  const auto first = b.v[0] >= b.v[4];
  Vector3<T> v = {choose(first, b.v[0], b.v[1]), choose(first, b.v[3], b.v[4]),
                  choose(first, b.v[6], b.v[7])};
  const auto last = b.v[8] > choose(first, b.v[0], b.v[4]);
  v = {choose(last, b.v[2], v.x), choose(last, b.v[5], v.y), choose(last, b.v[8], v.z)};
  const T length = root(dot(v, v));
  v = {v.x / length, v.y / length, v.z / length};
  const Vector3<T> fv = f * v;
  left = c * v;
  return {{f.v[0] - fv.x * v.x, f.v[1] - fv.x * v.y, f.v[2] - fv.x * v.z, f.v[3] - fv.y * v.x,
           f.v[4] - fv.y * v.y, f.v[5] - fv.y * v.z, f.v[6] - fv.z * v.x, f.v[7] - fv.z * v.y,
           f.v[8] - fv.z * v.z}};
}

}  // namespace cornea::geometry
