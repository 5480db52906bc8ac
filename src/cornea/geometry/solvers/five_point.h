// SPDX-License-Identifier: Apache-2.0
// E from 5 correspondences of rays (x, y, 1): D. Nister, "An efficient solution to the five-point
// relative pose problem", PAMI 2004. Shared by CPU and CUDA.
//
// E = x X + y Y + z Z + W, where X, Y, Z, W span the null space of the correspondences. det E = 0
// and 2 E E^T E = tr(E E^T) E are 10 cubics in x, y, z; elimination leaves 3 equations in x, y, 1
// whose coefficients are polynomials in z, and their determinant is a polynomial of degree 10 in z.
//
// If the camera only rotated, every t fits: exact correspondences then give no E, noisy ones give
// some that fit.
#pragma once

#include "cornea/geometry/algebra/reflections.h"
#include "cornea/geometry/solvers/epipolar_system.h"
#include "cornea/geometry/solvers/essential_step.h"
#include "cornea/geometry/solvers/models.h"
#include "cornea/geometry/solvers/oriented.h"
#include "cornea/geometry/solvers/real_roots.h"
#include "cornea/geometry/solvers/rolled.h"

namespace cornea::geometry {

struct EssentialHypotheses {
  Matrix3<float> e[10];  // of norm 1
  int count = 0;
  bool fixed = false;  // whether there are solutions, including those with points behind a camera
};

namespace five_point {

// Coefficients of polynomials in x, y, z. Linear: x, y, z, 1. Quadratic: xx, xy, yy, xz, yz, zz, x,
// y, z, 1. Cubic, in the order of elimination: xxx, yyy, xxy, xyy, xxz, xx, yyz, yy, xyz, xy, xzz,
// xz, x, yzz, yz, y, zzz, zz, z, 1.
inline constexpr int kQuadratic = 10, kCubic = 20, kEquations = 10;

// q += a * b, for linear a and b
CORNEA_HD inline void add_product(const double* a, const double* b, double* q) {
  q[0] += a[0] * b[0];
  q[1] += a[0] * b[1] + a[1] * b[0];
  q[2] += a[1] * b[1];
  q[3] += a[0] * b[2] + a[2] * b[0];
  q[4] += a[1] * b[2] + a[2] * b[1];
  q[5] += a[2] * b[2];
  q[6] += a[0] * b[3] + a[3] * b[0];
  q[7] += a[1] * b[3] + a[3] * b[1];
  q[8] += a[2] * b[3] + a[3] * b[2];
  q[9] += a[3] * b[3];
}

// c += q * a, for a quadratic q and a linear a
CORNEA_HD inline void add_cubic(const double* q, const double* a, double* c) {
  c[0] += q[0] * a[0];
  c[1] += q[2] * a[1];
  c[2] += q[0] * a[1] + q[1] * a[0];
  c[3] += q[1] * a[1] + q[2] * a[0];
  c[4] += q[0] * a[2] + q[3] * a[0];
  c[5] += q[0] * a[3] + q[6] * a[0];
  c[6] += q[2] * a[2] + q[4] * a[1];
  c[7] += q[2] * a[3] + q[7] * a[1];
  c[8] += q[1] * a[2] + q[3] * a[1] + q[4] * a[0];
  c[9] += q[1] * a[3] + q[6] * a[1] + q[7] * a[0];
  c[10] += q[3] * a[2] + q[5] * a[0];
  c[11] += q[3] * a[3] + q[6] * a[2] + q[8] * a[0];
  c[12] += q[6] * a[3] + q[9] * a[0];
  c[13] += q[4] * a[2] + q[5] * a[1];
  c[14] += q[4] * a[3] + q[7] * a[2] + q[8] * a[1];
  c[15] += q[7] * a[3] + q[9] * a[1];
  c[16] += q[5] * a[2];
  c[17] += q[5] * a[3] + q[8] * a[2];
  c[18] += q[8] * a[3] + q[9] * a[2];
  c[19] += q[9] * a[3];
}

// X, Y, Z, W: four coefficients per entry of E.
struct NullSpace {
  double e[9][4];
};

// Changes the basis. Any basis would do, except that in the one the reflections give, the solution
// for a camera that moves sideways without rotating lies at z = infinity, where the polynomial
// loses a degree.
CORNEA_HD inline void mix(double a, double b, double c, double d, double (&out)[4]) {
  constexpr double p = 0.5178, q = 0.1283, r = 0.6931, s = 0.4848037334839739;  // a unit quaternion
  out[0] = p * a - q * b - r * c - s * d;
  out[1] = q * a + p * b - s * c + r * d;
  out[2] = r * a + s * b + p * c - q * d;
  out[3] = s * a - r * b + q * c + p * d;
}

// The 10 cubics, one per row.
CORNEA_HD inline void constraints(const NullSpace& n, double (&m)[kEquations][kCubic]) {
  CORNEA_ROLLED
  for (int i = 0; i < kEquations; ++i) {
    for (int j = 0; j < kCubic; ++j) m[i][j] = 0;
  }
  // det E by expansion along the first row.
  CORNEA_ROLLED
  for (int k = 0; k < 3; ++k) {
    const int i = k == 2 ? 0 : k + 1, j = k == 0 ? 2 : k - 1;
    double q[kQuadratic], minus[4];
    for (int c = 0; c < kQuadratic; ++c) q[c] = 0;
    for (int c = 0; c < 4; ++c) minus[c] = -n.e[3 + j][c];
    add_product(n.e[3 + i], n.e[6 + j], q);
    add_product(minus, n.e[6 + i], q);
    add_cubic(q, n.e[k], m[0]);
  }
  // (E E^T - tr(E E^T) / 2) E, row by row: each row needs only the same row of the first factor.
  double trace[kQuadratic];
  for (int c = 0; c < kQuadratic; ++c) trace[c] = 0;
  CORNEA_ROLLED
  for (int k = 0; k < 9; ++k) add_product(n.e[k], n.e[k], trace);
  CORNEA_ROLLED
  for (int i = 0; i < 3; ++i) {
    CORNEA_ROLLED
    for (int k = 0; k < 3; ++k) {
      double q[kQuadratic];
      for (int c = 0; c < kQuadratic; ++c) q[c] = k == i ? -trace[c] / 2 : 0.0;
      CORNEA_ROLLED
      for (int j = 0; j < 3; ++j) add_product(n.e[3 * i + j], n.e[3 * k + j], q);
      CORNEA_ROLLED
      for (int j = 0; j < 3; ++j) add_cubic(q, n.e[3 * k + j], m[1 + 3 * i + j]);
    }
  }
}

// Gauss-Jordan elimination: afterwards rows 4 to 9 have 1 in their own column of the first 10 and 0
// in the others.
CORNEA_HD inline void eliminate(double (&m)[kEquations][kCubic]) {
  constexpr int kFirst = 4;
  CORNEA_ROLLED
  for (int k = 0; k < kEquations; ++k) {
    int pivot = k;
    double largest = fabs(m[k][k]);
    CORNEA_ROLLED
    for (int i = k + 1; i < kEquations; ++i) {
      if (fabs(m[i][k]) > largest) {
        largest = fabs(m[i][k]);
        pivot = i;
      }
    }
    if (pivot != k) {
      for (int j = k; j < kCubic; ++j) {
        const double swap = m[k][j];
        m[k][j] = m[pivot][j];
        m[pivot][j] = swap;
      }
    }
    const double inverse = 1 / m[k][k];
    CORNEA_ROLLED
    for (int i = k + 1; i < kEquations; ++i) {
      const double factor = m[i][k] * inverse;
      for (int j = k + 1; j < kCubic; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  CORNEA_ROLLED
  for (int k = kEquations - 1; k >= kFirst; --k) {
    const double inverse = 1 / m[k][k];
    for (int j = kEquations; j < kCubic; ++j) m[k][j] *= inverse;
    CORNEA_ROLLED
    for (int i = kFirst; i < k; ++i) {
      const double factor = m[i][k];
      for (int j = kEquations; j < kCubic; ++j) m[i][j] -= factor * m[k][j];
    }
  }
}

// Three equations x(z) x + y(z) y + one(z) = 0; coefficients in order of rising powers of z.
struct Equations {
  double x[3][4], y[3][4], one[3][5];
};

// Combines the rows of xxz and xx, yyz and yy, xyz and xy: the first minus z times the second.
CORNEA_HD inline void reduce(const double (&m)[kEquations][kCubic], Equations& out) {
  for (int i = 0; i < 3; ++i) {
    const double *a = m[4 + 2 * i] + 10, *b = m[5 + 2 * i] + 10;
    for (int part = 0; part < 2; ++part) {
      double* to = part == 0 ? out.x[i] : out.y[i];
      const double *p = a + 3 * part, *q = b + 3 * part;
      to[0] = p[2];
      to[1] = p[1] - q[2];
      to[2] = p[0] - q[1];
      to[3] = -q[0];
    }
    out.one[i][0] = a[9];
    out.one[i][1] = a[8] - b[9];
    out.one[i][2] = a[7] - b[8];
    out.one[i][3] = a[6] - b[7];
    out.one[i][4] = -b[6];
  }
}

CORNEA_HD inline void determinant(const Equations& e, double (&p)[11]) {
  for (int k = 0; k <= 10; ++k) p[k] = 0;
  CORNEA_ROLLED
  for (int r = 0; r < 3; ++r) {
    const int i = r == 2 ? 0 : r + 1, j = r == 0 ? 2 : r - 1;
    double minor[7];
    CORNEA_UNROLL
    for (int k = 0; k < 7; ++k) minor[k] = 0;
    CORNEA_UNROLL
    for (int a = 0; a < 4; ++a) {
      CORNEA_UNROLL
      for (int b = 0; b < 4; ++b) minor[a + b] += e.x[i][a] * e.y[j][b] - e.x[j][a] * e.y[i][b];
    }
    CORNEA_UNROLL
    for (int a = 0; a < 7; ++a) {
      CORNEA_UNROLL
      for (int b = 0; b < 5; ++b) p[a + b] += minor[a] * e.one[r][b];
    }
  }
}

// E's coefficients for X, Y, Z, W, of norm 1, at a root. (w x, w y, 1) follows from the two
// equations that determine it best.
struct Coefficients {
  double v[4];
};
CORNEA_HD inline Coefficients at_root(const Equations& e, const ProjectiveRoot& root) {
  const double z = root.z, w = root.w, w2 = w * w, w3 = w2 * w;
  Vector3<double> rows[3];
  CORNEA_UNROLL
  for (int i = 0; i < 3; ++i) {
    const double *x = e.x[i], *y = e.y[i], *c = e.one[i];
    rows[i].x = ((x[3] * z + x[2] * w) * z + x[1] * w2) * z + x[0] * w3;
    rows[i].y = ((y[3] * z + y[2] * w) * z + y[1] * w2) * z + y[0] * w3;
    rows[i].z = (((c[4] * z + c[3] * w) * z + c[2] * w2) * z + c[1] * w3) * z + c[0] * (w2 * w2);
  }
  Vector3<double> best{};
  double longest = -1;
  CORNEA_UNROLL
  for (int i = 0; i < 3; ++i) {
    const Vector3<double> c = cross(rows[i], rows[i == 2 ? 0 : i + 1]);
    const double length = dot(c, c);
    if (length > longest) {
      longest = length;
      best = c;
    }
  }
  const Coefficients k = {{best.x, best.y, z * best.z, w * best.z}};
  const double norm =
      1 / sqrt(k.v[0] * k.v[0] + k.v[1] * k.v[1] + k.v[2] * k.v[2] + k.v[3] * k.v[3]);
  return {{k.v[0] * norm, k.v[1] * norm, k.v[2] * norm, k.v[3] * norm}};
}

CORNEA_HD inline Matrix3<double> combine(const NullSpace& n, const Coefficients& k) {
  Matrix3<double> e;
  CORNEA_UNROLL
  for (int i = 0; i < 9; ++i) {
    const double* of = n.e[i];
    e.v[i] = of[0] * k.v[0] + of[1] * k.v[1] + of[2] * k.v[2] + of[3] * k.v[3];
  }
  return e;
}

// The polynomial loses digits if solutions lie close to each other, as those of points on a plane
// do. Gauss-Newton steps on the coefficients, which make E E^T E - tr(E E^T) E / 2 zero, restore
// them.
CORNEA_HD inline Matrix3<double> polish(const NullSpace& n, Coefficients k) {
  constexpr int kIterations = 3;
  Matrix3<double> derivative[4];
  for (int c = 0; c < 4; ++c) {
    for (int i = 0; i < 9; ++i) derivative[c].v[i] = n.e[i][c];
  }
  Matrix3<double> e = combine(n, k);
  CORNEA_ROLLED
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    double x[4];
    if (!essential_step(e, derivative, k.v, x)) break;
    double norm = 0;
    CORNEA_UNROLL
    for (int i = 0; i < 4; ++i) {
      x[i] += k.v[i];
      norm += x[i] * x[i];
    }
    // The solutions form a line, as those of a camera that only rotated do.
    if (!(norm < 4)) break;
    norm = 1 / sqrt(norm);
    CORNEA_UNROLL
    for (int i = 0; i < 4; ++i) k.v[i] = x[i] * norm;
    e = combine(n, k);
  }
  return e;
}

// E's left null vector, the longest column of the cofactors.
CORNEA_HD inline Vector3<double> left_epipole(const Matrix3<double>& e) {
  const Matrix3<double> c = cofactors(e);
  Vector3<double> left{};
  double longest = -1;
  CORNEA_UNROLL
  for (int j = 0; j < 3; ++j) {
    const Vector3<double> column = {c.v[j], c.v[3 + j], c.v[6 + j]};
    const double length = dot(column, column);
    if (length > longest) {
      longest = length;
      left = column;
    }
  }
  return left;
}

}  // namespace five_point

// Below this value of Reflections::rank the equations of a sample are linearly dependent, for
// example because two correspondences are equal.
inline constexpr double kLeastRankOfFive = 1e-14;

// Calls add(E) for each E of norm 1 that has all 5 points in front of the cameras by the oriented
// epipolar constraint. Returns true if there are solutions, including those that violate it.
template <class Add>
CORNEA_HD inline bool for_each_essential(const Sample<double, 5>& s, const Add& add) {
  five_point::NullSpace space;
  {
    Reflections<5, double> system;
    CORNEA_UNROLL
    for (int i = 0; i < 5; ++i) epipolar_row(s.x1[i], s.y1[i], s.x2[i], s.y2[i], system.v[i]);
    system.factorise();
    if (!(system.rank > kLeastRankOfFive)) return false;
    const Matrix3<double> a = system.null_vector(5), b = system.null_vector(6);
    const Matrix3<double> c = system.null_vector(7), d = system.null_vector(8);
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) {
      five_point::mix(a.v[i], b.v[i], c.v[i], d.v[i], space.e[i]);
    }
  }
  five_point::Equations equations;
  {
    double m[five_point::kEquations][five_point::kCubic];
    five_point::constraints(space, m);
    five_point::eliminate(m);
    five_point::reduce(m, equations);
  }
  double p[11];
  five_point::determinant(equations, p);
  ProjectiveRoot roots[10];
  const int count = real_roots<10>(p, roots);
  bool fixed = false;
  for (int i = 0; i < count; ++i) {
    const five_point::Coefficients k = five_point::at_root(equations, roots[i]);
    if (!(k.v[0] - k.v[0] == 0)) continue;
    const Matrix3<double> e = five_point::polish(space, k);
    fixed = true;
    if (oriented(e, five_point::left_epipole(e), s) > 0) add(e);
  }
  return fixed;
}

CORNEA_HD inline EssentialHypotheses from_five(const Sample<double, 5>& s) {
  EssentialHypotheses result;
  result.fixed = for_each_essential(
      s, [&](const Matrix3<double>& e) { result.e[result.count++] = converted<float>(e); });
  return result;
}

}  // namespace cornea::geometry
