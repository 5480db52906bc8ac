// SPDX-License-Identifier: Apache-2.0
// The oriented epipolar constraint on a sample.
#pragma once

#include "cornea/geometry/sampling.h"
#include "cornea/geometry/scoring/epipolar.h"

namespace cornea::geometry {

// 1 if all points of a sample satisfy the oriented epipolar constraint for F, otherwise 0.
template <class T, int size>
CORNEA_HD inline T oriented(const Matrix3<T>& f, const Vector3<T>& left, const Sample<T, size>& s,
                            int points = size) {
  T least = orientation(f, left, s.x1[0], s.y1[0], s.x2[0], s.y2[0]), most = least;
  CORNEA_UNROLL
  for (int i = 1; i < points; ++i) {
    const T o = orientation(f, left, s.x1[i], s.y1[i], s.x2[i], s.y2[i]);
    least = choose(o < least, o, least);
    most = choose(o > most, o, most);
  }
  return choose(least * most > 0.0f, T{} + 1.0f, T{});
}

}  // namespace cornea::geometry
