// SPDX-License-Identifier: Apache-2.0
// The distance of a correspondence to F or E: the sum of its distances to both epipolar lines.
// Shared by CPU and CUDA; T is float or double, or on the CPU Floats: one correspondence per lane.
//
// Coordinates are normalised here; `Scales` gives the size of a pixel in them.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/lanes.h"
#include "cornea/geometry/algebra/matrix3.h"
#include "cornea/geometry/points.h"
#include "cornea/geometry/scoring/cost.h"

namespace cornea::geometry {

// e = x2^T F x1, and the squared lengths p of F x1 and q of F^T x2, each without its third entry.
template <class T>
struct EpipolarTerms {
  T e, p, q;
};
template <class M, class T>
CORNEA_HD inline EpipolarTerms<T> epipolar_terms(const Matrix3<M>& f, T x1, T y1, T x2, T y2) {
  const T a2 = f.v[0] * x1 + f.v[1] * y1 + f.v[2];
  const T b2 = f.v[3] * x1 + f.v[4] * y1 + f.v[5];
  const T c2 = f.v[6] * x1 + f.v[7] * y1 + f.v[8];
  const T a1 = f.v[0] * x2 + f.v[3] * y2 + f.v[6];
  const T b1 = f.v[1] * x2 + f.v[4] * y2 + f.v[7];
  return {a2 * x2 + b2 * y2 + c2, a2 * a2 + b2 * b2, a1 * a1 + b1 * b1};
}

// The squared distance, in units of the second image: (|e| (1/sqrt(p) + r/sqrt(q)))^2, where r is
// the second scale divided by the first and rr its square.
template <class T, class S>
CORNEA_HD inline T squared_distance(const EpipolarTerms<T>& t, S r, S rr) {
  const T pq = t.p * t.q;
  return t.e * t.e * (t.q + rr * t.p + (r + r) * root(pq)) / pq;
}
template <class T>
CORNEA_HD inline T squared_distance(const Matrix3<T>& f, T x1, T y1, T x2, T y2, T r, T rr) {
  return squared_distance(epipolar_terms(f, x1, y1, x2, y2), r, rr);
}

// Whether the distance exceeds the threshold, by a lower bound without square root and division:
// the cross term of the square is positive and is left out. The margin exceeds the rounding error.
template <class T>
CORNEA_HD inline auto surely_outlier(const EpipolarTerms<T>& t, const CostScale& scale) {
  return t.e * t.e * (t.q + scale.rr * t.p) * scale.inverse > 1.001f * (t.p * t.q);
}

struct InlierTest {
  Matrix3<double> f;
  double r, rr, inverse;
  CORNEA_HD bool operator()(const PointPair& p) const {
    return squared_distance(f, p.x1, p.y1, p.x2, p.y2, r, rr) * inverse < 1;
  }
};
CORNEA_HD inline InlierTest inlier_test(const Matrix3<double>& f, const Scales& scales,
                                        double threshold) {
  const double r = scales.second / scales.first, t = threshold * scales.second;
  return {f, r, r * r, 1 / (t * t)};
}

CORNEA_HD inline double epipolar_error(const Matrix3<double>& f, const PointPair& p,
                                       Vector3<double>& l2, Vector3<double>& l1) {
  l2 = f * Vector3<double>{p.x1, p.y1, 1};
  l1 = transposed(f) * Vector3<double>{p.x2, p.y2, 1};
  return l2.x * p.x2 + l2.y * p.y2 + l2.z;
}

// The side of its epipolar line on which a point lies, as seen from the epipole: the same sign for
// all points in front of both cameras (O. Chum, T. Werner, J. Matas, "Epipolar geometry estimation
// via RANSAC benefits from the oriented epipolar constraint", ICPR 2004).
template <class T>
CORNEA_HD inline T orientation(const Matrix3<T>& f, const Vector3<T>& left, T x1, T y1, T x2,
                               T y2) {
  const T one = T{} + 1.0f;
  return dot(cross(left, Vector3<T>{x2, y2, one}), f * Vector3<T>{x1, y1, one});
}

// The metric of the estimators of F and E.
struct EpipolarMetric {
  template <class T>
  using Prepared = Matrix3<T>;
  CORNEA_HD static const Matrix3<float>& prepared(const Matrix3<float>& m) { return m; }
  // The squared distance divided by the squared threshold.
  CORNEA_HD static float share(const Matrix3<float>& m, float x1, float y1, float x2, float y2,
                               const CostScale& scale) {
    return squared_distance(m, x1, y1, x2, y2, scale.r, scale.rr) * scale.inverse;
  }
};

}  // namespace cornea::geometry
