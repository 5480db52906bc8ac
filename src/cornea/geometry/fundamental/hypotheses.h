// F from a sample: of 8 correspondences for any T (see fundamental_math.h), of 7 or of more than 8
// for floats.
#pragma once

#include "cornea/geometry/fundamental/fundamental_math.h"
#include "cornea/geometry/symmetric.h"

namespace cornea::geometry {

template <class T, int size>
struct Sample {
  T x1[size], y1[size], x2[size], y2[size];
};

// 1 where all points of a sample agree with F about what lies before the cameras, otherwise 0.
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

// F of rank 2 from 8 correspondences; `valid` becomes 1, or 0 where they do not fix one, or between
// where points would lie behind a camera.
inline constexpr float kBehind = 0.5f;
template <class T>
CORNEA_HD inline Matrix3<T> from_eight(const Sample<T, 8>& s, T& valid) {
  Reflections<8, T> system;
  CORNEA_UNROLL
  for (int i = 0; i < 8; ++i) epipolar_row(s.x1[i], s.y1[i], s.x2[i], s.y2[i], system.v[i]);
  system.factorise();
  Vector3<T> left;
  const Matrix3<T> f = rank_two(system.null_vector(8), left);
  const T side = oriented(f, left, s);
  const T fixed = choose(side > 0.0f, side, T{} + kBehind);
  valid = choose(system.rank > kLeastRank, fixed, T{});
  return f;
}

// A sample's models: one, or up to three from 7 points.
struct Hypotheses {
  Matrix3<float> f[3];
  int count = 0;
  bool fixed = false;  // whether there would be any, were it not for points behind a camera

  CORNEA_HD void add(const Matrix3<float>& model, const Sample<float, kLargestSample>& s,
                     int points) {
    Vector3<float> left;
    const Matrix3<float> exact = rank_two(model, left);
    fixed = true;
    if (oriented(exact, left, s, points) > 0) f[count++] = exact;
  }
};

// The roots of c[0] + c[1] x + c[2] x^2 + c[3] x^3 in [-1, 1], each from an interval between
// turning points by halving.
CORNEA_HD inline int roots_near_zero(const float (&c)[4], float (&roots)[3]) {
  auto value = [&](float x) { return ((c[3] * x + c[2]) * x + c[1]) * x + c[0]; };
  float ends[4] = {-1, 1, 1, 1};
  int intervals = 1;
  const float a = 3 * c[3], b = c[2], d = b * b - a * c[1];
  if (d > 0) {
    // of a x^2 + 2 b x + c[1], without cancellation
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
    for (int turn = 0; turn < 28; ++turn) {
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

// The matrices of rank 2 among those that 7 correspondences leave.
CORNEA_HD inline Hypotheses from_seven(const Sample<float, kLargestSample>& s) {
  Reflections<7, float> system;
  CORNEA_UNROLL
  for (int i = 0; i < 7; ++i) epipolar_row(s.x1[i], s.y1[i], s.x2[i], s.y2[i], system.v[i]);
  system.factorise();
  Hypotheses result;
  if (!(system.rank > kLeastRank)) return result;
  const Matrix3<float> a = system.null_vector(7), b = system.null_vector(8);
  float c[4], roots[3];
  determinant_cubic(a, b, c);
  // a + x b for |x| <= 1, then x a + b for |x| < 1: all of the line.
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
      result.add(f, s, 7);
    }
    const float c0 = c[0], c1 = c[1];
    c[0] = c[3];
    c[1] = c[2];
    c[2] = c1;
    c[3] = c0;
  }
  return result;
}

// Least squares, for 9 correspondences or more.
CORNEA_HD inline Hypotheses from_many(const Sample<float, kLargestSample>& s, int points) {
  double m[packed_size(9)] = {};
  for (int k = 0; k < points; ++k) {
    double row[9];
    epipolar_row<double>(s.x1[k], s.y1[k], s.x2[k], s.y2[k], row);
    for (int i = 0; i < 9; ++i) {
      for (int j = 0; j <= i; ++j) m[packed(i, j)] += row[i] * row[j];
    }
  }
  double trace = 0, x[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (int i = 0; i < 9; ++i) trace += m[packed(i, i)];
  smallest_eigenvector<9>(m, x);
  // Of the pivots, which it leaves in the diagonal, one is small; a second one means two solutions.
  constexpr double kSmallPivot = 1e-11;
  int small = 0;
  for (int i = 0; i < 9; ++i) small += !(m[packed(i, i)] > kSmallPivot * trace);
  Hypotheses result;
  if (small > 1) return result;
  Matrix3<float> f;
  for (int i = 0; i < 9; ++i) f.v[i] = float(x[i]);
  result.add(f, s, points);
  return result;
}

}  // namespace cornea::geometry
