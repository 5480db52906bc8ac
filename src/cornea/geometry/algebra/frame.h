// SPDX-License-Identifier: Apache-2.0
// F = U diag(1, s, 0) V^T: its singular vectors, and small rotations of them.
#pragma once

#include <cmath>

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/matrix3.h"

namespace cornea::geometry {

// F = U diag(1, s, 0) V^T.
struct EpipolarFrame {
  Vector3<double> u[3], v[3];
  double s;
};

CORNEA_HD inline Vector3<double> scaled(const Vector3<double>& a, double k) {
  return {a.x * k, a.y * k, a.z * k};
}
CORNEA_HD inline Vector3<double> sum(const Vector3<double>& a, const Vector3<double>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
CORNEA_HD inline Vector3<double> unit(const Vector3<double>& a) {
  return scaled(a, 1 / sqrt(dot(a, a)));
}

// For an F of rank 2; closed form, without iterations.
CORNEA_HD inline EpipolarFrame frame_of(const Matrix3<double>& f) {
  // The right null vector: the longest row of the cofactors.
  const Matrix3<double> c = cofactors(f);
  Vector3<double> null{};
  double longest = -1;
  for (int i = 0; i < 3; ++i) {
    const Vector3<double> row = {c.v[3 * i], c.v[3 * i + 1], c.v[3 * i + 2]};
    if (dot(row, row) > longest) {
      longest = dot(row, row);
      null = row;
    }
  }
  null = unit(null);
  // Two axes orthogonal to it, and the rotation of them that makes their images under F orthogonal.
  const bool along_x = fabs(null.x) > 0.7;
  const Vector3<double> p =
      unit(cross(null, along_x ? Vector3<double>{0, 1, 0} : Vector3<double>{1, 0, 0}));
  const Vector3<double> q = cross(null, p);
  const Vector3<double> fp = f * p, fq = f * q;
  const double g = dot(fp, fp) - dot(fq, fq), h = 2 * dot(fp, fq);
  const double length = sqrt(g * g + h * h);
  // cosine and sine of half the angle of (g, h)
  double cosine = 1, sine = 0;
  if (length > 0) {
    cosine = sqrt((1 + fabs(g) / length) / 2);
    sine = fabs(h) / length / (2 * cosine);
    if (g < 0) {
      const double other = cosine;
      cosine = sine;
      sine = other;
    }
    if (h < 0) sine = -sine;
  }
  EpipolarFrame frame;
  frame.v[0] = sum(scaled(p, cosine), scaled(q, sine));
  frame.v[1] = sum(scaled(q, cosine), scaled(p, -sine));
  frame.v[2] = cross(frame.v[0], frame.v[1]);
  const Vector3<double> a = f * frame.v[0], b = f * frame.v[1];
  frame.u[0] = unit(a);
  frame.u[1] = unit(b);
  frame.u[2] = cross(frame.u[0], frame.u[1]);
  frame.s = sqrt(dot(b, b) / dot(a, a));
  return frame;
}

CORNEA_HD inline Matrix3<double> matrix_of(const EpipolarFrame& e) {
  const Vector3<double>&a = e.u[0], &b = e.u[1], &p = e.v[0], &q = e.v[1];
  const double s = e.s;
  return {{a.x * p.x + s * b.x * q.x, a.x * p.y + s * b.x * q.y, a.x * p.z + s * b.x * q.z,
           a.y * p.x + s * b.y * q.x, a.y * p.y + s * b.y * q.y, a.y * p.z + s * b.y * q.z,
           a.z * p.x + s * b.z * q.x, a.z * p.y + s * b.z * q.y, a.z * p.z + s * b.z * q.z}};
}

// Multiplies the frame by the rotation of the quaternion (1, w/2), which is a rotation by about |w|
// for small w.
CORNEA_HD inline void rotate(Vector3<double> (&axes)[3], double wx, double wy, double wz) {
  const double x = wx / 2, y = wy / 2, z = wz / 2, n = 1 / (1 + x * x + y * y + z * z);
  const Vector3<double> a = axes[0], b = axes[1], c = axes[2];
  auto mix = [&](double i, double j, double k) {
    return scaled(sum(sum(scaled(a, i), scaled(b, j)), scaled(c, k)), n);
  };
  axes[0] = mix(1 + x * x - y * y - z * z, 2 * (x * y + z), 2 * (x * z - y));
  axes[1] = mix(2 * (x * y - z), 1 - x * x + y * y - z * z, 2 * (y * z + x));
  axes[2] = mix(2 * (x * z + y), 2 * (y * z - x), 1 - x * x - y * y + z * z);
}

}  // namespace cornea::geometry
