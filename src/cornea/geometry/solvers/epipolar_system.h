// SPDX-License-Identifier: Apache-2.0
// x2^T F x1 = 0 as a linear system in the entries of F.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/symmetric.h"
#include "cornea/geometry/points.h"

namespace cornea::geometry {

// x2^T F x1 as one row of a system in the entries of F.
template <class T>
CORNEA_HD inline void epipolar_row(T x1, T y1, T x2, T y2, T* row) {
  row[0] = x2 * x1;
  row[1] = x2 * y1;
  row[2] = x2;
  row[3] = y2 * x1;
  row[4] = y2 * y1;
  row[5] = y2;
  row[6] = x1;
  row[7] = y1;
  row[8] = T{} + 1.0f;
}

// A^T W A of the system A f = 0, packed; weight(point) is 0 for points that are ignored.
template <class Team, class Weight>
CORNEA_HD void epipolar_system(Team& team, const Weight& weight, double (&m)[packed_size(9)]) {
  team.template sums<packed_size(9)>(m, [&](const PointPair& p, double* terms) {
    const double w = weight(p);
    if (!(w > 0)) return false;
    double row[9];
    epipolar_row(p.x1, p.y1, p.x2, p.y2, row);
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) {
      const double wr = w * row[i];
      CORNEA_UNROLL
      for (int j = 0; j < 9; ++j) {
        if (j <= i) terms[packed(i, j)] = wr * row[j];
      }
    }
    return true;
  });
}

}  // namespace cornea::geometry
