// SPDX-License-Identifier: Apache-2.0
// Sampson's error of a correspondence with respect to F or E: to first order, its distance to the
// nearest correspondence that satisfies F. Shared by CPU and CUDA.
//
//   r = e / sqrt(g),   e = x2^T F x1,   g = |l2|^2 + k |l1|^2
//
// l2 = F x1 and l1 = F^T x2 count without their third entry; k = (first scale / second scale)^2, so
// that r is in units of the second image.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/matrix3.h"
#include "cornea/geometry/scoring/epipolar.h"

namespace cornea::geometry {

struct SampsonTerms {
  Vector3<double> l2, l1;
  double e, g;  // g is 0 at the epipoles, where r is not defined
};
CORNEA_HD inline SampsonTerms sampson_terms(const Matrix3<double>& f, const PointPair& p,
                                            double k) {
  SampsonTerms t;
  t.e = epipolar_error(f, p, t.l2, t.l1);
  t.g = t.l2.x * t.l2.x + t.l2.y * t.l2.y + k * (t.l1.x * t.l1.x + t.l1.y * t.l1.y);
  return t;
}

}  // namespace cornea::geometry
