// SPDX-License-Identifier: Apache-2.0
// H from 4 correspondences: the null vector of the 8 x 9 system, shared by CPU and CUDA.
#pragma once

#include "cornea/geometry/algebra/reflections.h"
#include "cornea/geometry/sampling.h"
#include "cornea/geometry/scoring/transfer.h"
#include "cornea/geometry/solvers/models.h"

namespace cornea::geometry {

// Whether three points and their images have the same orientation. For a plane in front of both
// cameras all triangles agree in this.
template <class S>
CORNEA_HD inline bool keeps_side(const S& s, int a, int b, int c) {
  const float first =
      (s.x1[b] - s.x1[a]) * (s.y1[c] - s.y1[a]) - (s.y1[b] - s.y1[a]) * (s.x1[c] - s.x1[a]);
  const float second =
      (s.x2[b] - s.x2[a]) * (s.y2[c] - s.y2[a]) - (s.y2[b] - s.y2[a]) * (s.x2[c] - s.x2[a]);
  return first * second > 0;
}

CORNEA_HD inline Models<1> from_four(const Sample<float, 4>& s) {
  Models<1> result;
  Reflections<8, float> system;
  CORNEA_UNROLL
  for (int i = 0; i < 4; ++i) {
    transfer_rows(s.x1[i], s.y1[i], s.x2[i], s.y2[i], system.v[2 * i], system.v[2 * i + 1]);
  }
  system.factorise();
  if (!(system.rank > kLeastRank)) return result;
  result.fixed = true;
  result.m[0] = system.null_vector(8);
  const bool possible = keeps_side(s, 0, 1, 2) == keeps_side(s, 0, 1, 3) &&
                        keeps_side(s, 0, 1, 2) == keeps_side(s, 0, 2, 3) &&
                        keeps_side(s, 0, 1, 2) == keeps_side(s, 1, 2, 3);
  result.count = possible ? 1 : 0;
  return result;
}

}  // namespace cornea::geometry
