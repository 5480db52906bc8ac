// SPDX-License-Identifier: Apache-2.0
// 3 x 3 matrices and vectors for formulas shared by CPU and CUDA. T is a number or a Pack of
// numbers.
#pragma once

#include "cornea/core/host_device.h"

namespace cornea::geometry {

template <class T>
struct Vector3 {
  T x, y, z;
};

// Row-major.
template <class T>
struct Matrix3 {
  T v[9];
};

template <class T>
CORNEA_HD inline Vector3<T> operator*(const Matrix3<T>& m, const Vector3<T>& a) {
  return {m.v[0] * a.x + m.v[1] * a.y + m.v[2] * a.z, m.v[3] * a.x + m.v[4] * a.y + m.v[5] * a.z,
          m.v[6] * a.x + m.v[7] * a.y + m.v[8] * a.z};
}

template <class T>
CORNEA_HD inline Matrix3<T> operator*(const Matrix3<T>& a, const Matrix3<T>& b) {
  Matrix3<T> c;
  CORNEA_UNROLL
  for (int i = 0; i < 3; ++i) {
    CORNEA_UNROLL
    for (int j = 0; j < 3; ++j) {
      c.v[3 * i + j] =
          a.v[3 * i] * b.v[j] + a.v[3 * i + 1] * b.v[3 + j] + a.v[3 * i + 2] * b.v[6 + j];
    }
  }
  return c;
}

template <class T>
CORNEA_HD inline Matrix3<T> transposed(const Matrix3<T>& m) {
  return {{m.v[0], m.v[3], m.v[6], m.v[1], m.v[4], m.v[7], m.v[2], m.v[5], m.v[8]}};
}

template <class T>
CORNEA_HD inline T dot(const Vector3<T>& a, const Vector3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class T>
CORNEA_HD inline Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// [a]x b = a x b
template <class T>
CORNEA_HD inline Matrix3<T> cross_matrix(const Vector3<T>& a) {
  return {{T{}, -a.z, a.y, a.z, T{}, -a.x, -a.y, a.x, T{}}};
}

// cof(M), with M^-1 det M = cof(M)^T. For a matrix of rank 2 it is a multiple of u v^T, where u and
// v are its left and right null vectors.
template <class T>
CORNEA_HD inline Matrix3<T> cofactors(const Matrix3<T>& m) {
  const T* a = m.v;
  return {{a[4] * a[8] - a[5] * a[7], a[5] * a[6] - a[3] * a[8], a[3] * a[7] - a[4] * a[6],
           a[2] * a[7] - a[1] * a[8], a[0] * a[8] - a[2] * a[6], a[1] * a[6] - a[0] * a[7],
           a[1] * a[5] - a[2] * a[4], a[2] * a[3] - a[0] * a[5], a[0] * a[4] - a[1] * a[3]}};
}

template <class To, class From>
CORNEA_HD inline Matrix3<To> converted(const Matrix3<From>& m) {
  Matrix3<To> c;
  CORNEA_UNROLL
  for (int i = 0; i < 9; ++i) c.v[i] = static_cast<To>(m.v[i]);
  return c;
}

}  // namespace cornea::geometry
