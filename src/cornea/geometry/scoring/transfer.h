// SPDX-License-Identifier: Apache-2.0
// The distance of a correspondence to a homography: that of x2 to H x1 plus that of x1 to H^-1 x2
// (symmetric transfer). Shared by CPU and CUDA; T is float or double, or on the CPU Floats: one
// correspondence per lane.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/lanes.h"
#include "cornea/geometry/algebra/matrix3.h"
#include "cornea/geometry/points.h"
#include "cornea/geometry/scoring/cost.h"

namespace cornea::geometry {

// The distance of x2 to H x1 plus r times that of x1 to G x2, squared; G is the inverse of H up to
// a factor.
template <class M, class T, class S>
CORNEA_HD inline T squared_transfer(const Matrix3<M>& h, const Matrix3<M>& g, T x1, T y1, T x2,
                                    T y2, S r) {
  const T az = h.v[6] * x1 + h.v[7] * y1 + h.v[8], bz = g.v[6] * x2 + g.v[7] * y2 + g.v[8];
  const T ax = (h.v[0] * x1 + h.v[1] * y1 + h.v[2]) / az - x2;
  const T ay = (h.v[3] * x1 + h.v[4] * y1 + h.v[5]) / az - y2;
  const T bx = (g.v[0] * x2 + g.v[1] * y2 + g.v[2]) / bz - x1;
  const T by = (g.v[3] * x2 + g.v[4] * y2 + g.v[5]) / bz - y1;
  const T d = root(T(ax * ax + ay * ay)) + r * root(T(bx * bx + by * by));
  return d * d;
}
template <class T>
CORNEA_HD inline Matrix3<T> inverse_direction(const Matrix3<T>& m) {
  return transposed(cofactors(m));
}

// x2 ~ H x1 as two rows of a linear system in the entries of H.
template <class T>
CORNEA_HD inline void transfer_rows(T x1, T y1, T x2, T y2, T* a, T* b) {
  a[0] = x1, a[1] = y1, a[2] = T(1), a[3] = a[4] = a[5] = T(0);
  a[6] = -x2 * x1, a[7] = -x2 * y1, a[8] = -x2;
  b[0] = b[1] = b[2] = T(0), b[3] = x1, b[4] = y1, b[5] = T(1);
  b[6] = -y2 * x1, b[7] = -y2 * y1, b[8] = -y2;
}

// A homography as a model, with the constants for computing distances to it.
struct Plane {
  Matrix3<double> h, g;  // H, and its inverse up to a factor
  // The second scale divided by the first; 1 / (largest transfer distance of an inlier)^2, in units
  // of the second image.
  double r, inverse;

  CORNEA_HD void set(const Matrix3<double>& homography) {
    h = homography;
    g = inverse_direction(homography);
  }
  CORNEA_HD double share(const PointPair& p) const {
    return squared_transfer(h, g, p.x1, p.y1, p.x2, p.y2, r) * inverse;
  }
  CORNEA_HD bool has(const PointPair& p) const { return share(p) < 1; }
};
CORNEA_HD inline Plane plane_of(const Matrix3<double>& h, const Scales& scales, double width) {
  const double t = width * scales.second;
  Plane plane{{}, {}, scales.second / scales.first, 1 / (t * t)};
  plane.set(h);
  return plane;
}

// The metric of the estimators of H.
struct TransferMetric {
  template <class T>
  struct Prepared {
    Matrix3<T> h, g;
  };
  CORNEA_HD static Prepared<float> prepared(const Matrix3<float>& m) {
    return {m, inverse_direction(m)};
  }
  // The squared distance divided by the squared threshold.
  CORNEA_HD static float share(const Prepared<float>& m, float x1, float y1, float x2, float y2,
                               const CostScale& scale) {
    return squared_transfer(m.h, m.g, x1, y1, x2, y2, scale.r) * scale.inverse;
  }
};

}  // namespace cornea::geometry
