// SPDX-License-Identifier: Apache-2.0
// F and one focal length for both views from 6 correspondences; the code is shared by CPU and CUDA.
// Coordinates are relative to the principal points and divided by a guess of the focal length, so
// that the unknown focal length is about 1.
//
// The correspondences leave F = x X + y Y + Z. With Q = diag(1, 1, w), w = 1 / f^2, E = K F K
// satisfies 2 E E^T E = tr(E E^T) E, which is 2 F Q F^T Q F = tr(F Q F^T Q) F, and det F = 0: 10
// equations in the 10 monomials of x and y up to degree 3, whose coefficients are polynomials in w.
// They have a solution if their determinant is 0 (H. Li, "A simple solution to the six-point
// two-view focal-length problem", ECCV 2006).
//
// The determinant is a polynomial of degree 15 in w. With w = (1 + s) / (1 - s) and multiplied by
// (1 - s)^15 it becomes a polynomial of degree 15 in s. All focal lengths correspond to |s| < 1,
// where interpolation is well conditioned: 16 Chebyshev nodes are used. Roots outside kLeastFocal
// to kMostFocal (in units of the guess) are dropped.
//
// Degenerate cases: if the camera moves along its axis without rotating, every focal length fits,
// and 6 points on a plane leave a one-dimensional family of focal lengths.
#pragma once

#include "cornea/geometry/algebra/rank_two.h"
#include "cornea/geometry/algebra/reflections.h"
#include "cornea/geometry/solvers/epipolar_system.h"
#include "cornea/geometry/solvers/essential_step.h"
#include "cornea/geometry/solvers/models.h"
#include "cornea/geometry/solvers/oriented.h"
#include "cornea/geometry/solvers/real_roots.h"
#include "cornea/geometry/solvers/rolled.h"

namespace cornea::geometry {

inline constexpr double kLeastFocal = 0.25, kMostFocal = 4;  // in units of the guess

struct SharedFocalHypotheses {
  static constexpr int kMost = 15;
  Matrix3<float> f[kMost];
  float focal[kMost];  // in units of the guess
  int count = 0;
  bool fixed = false;  // whether there are solutions, including those with points behind a camera
};

namespace six_point {

// Coefficients of polynomials in x, y. Linear: x, y, 1. Quadratic: xx, xy, yy, x, y, 1. Cubic: xxx,
// xxy, xyy, yyy, xx, xy, yy, x, y, 1.
inline constexpr int kQuadratic = 6, kCubic = 10;

// q += a * b
CORNEA_HD inline void add_product(const double* a, const double* b, double* q) {
  q[0] += a[0] * b[0];
  q[1] += a[0] * b[1] + a[1] * b[0];
  q[2] += a[1] * b[1];
  q[3] += a[0] * b[2] + a[2] * b[0];
  q[4] += a[1] * b[2] + a[2] * b[1];
  q[5] += a[2] * b[2];
}

// c += q * a, for a quadratic q and a linear a
CORNEA_HD inline void add_cubic(const double* q, const double* a, double* c) {
  c[0] += q[0] * a[0];
  c[1] += q[0] * a[1] + q[1] * a[0];
  c[2] += q[1] * a[1] + q[2] * a[0];
  c[3] += q[2] * a[1];
  c[4] += q[0] * a[2] + q[3] * a[0];
  c[5] += q[1] * a[2] + q[3] * a[1] + q[4] * a[0];
  c[6] += q[2] * a[2] + q[4] * a[1];
  c[7] += q[3] * a[2] + q[5] * a[0];
  c[8] += q[4] * a[2] + q[5] * a[1];
  c[9] += q[5] * a[2];
}

// X, Y, Z: three coefficients per entry of F.
struct FocalSpace {
  double f[9][3];
};

// The 10 equations at a given w, one per row; e[k] is entry k of the essential matrix
// diag(1, 1, sqrt w) F diag(1, 1, sqrt w).
CORNEA_HD inline void focal_equations(const FocalSpace& space, double w, double (&m)[10][kCubic]) {
  const double root_w = sqrt(w);
  double e[9][3];
  CORNEA_ROLLED
  for (int i = 0; i < 9; ++i) {
    const double factor = (i / 3 == 2 ? root_w : 1.0) * (i % 3 == 2 ? root_w : 1.0);
    for (int c = 0; c < 3; ++c) e[i][c] = factor * space.f[i][c];
  }
  CORNEA_ROLLED
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < kCubic; ++j) m[i][j] = 0;
  }
  CORNEA_ROLLED
  for (int k = 0; k < 3; ++k) {
    const int i = k == 2 ? 0 : k + 1, j = k == 0 ? 2 : k - 1;
    double q[kQuadratic], minus[3];
    for (int c = 0; c < kQuadratic; ++c) q[c] = 0;
    for (int c = 0; c < 3; ++c) minus[c] = -e[3 + j][c];
    add_product(e[3 + i], e[6 + j], q);
    add_product(minus, e[6 + i], q);
    add_cubic(q, e[k], m[0]);
  }
  double trace[kQuadratic];
  for (int c = 0; c < kQuadratic; ++c) trace[c] = 0;
  CORNEA_ROLLED
  for (int k = 0; k < 9; ++k) add_product(e[k], e[k], trace);
  CORNEA_ROLLED
  for (int i = 0; i < 3; ++i) {
    CORNEA_ROLLED
    for (int k = 0; k < 3; ++k) {
      double q[kQuadratic];
      for (int c = 0; c < kQuadratic; ++c) q[c] = k == i ? -trace[c] / 2 : 0.0;
      CORNEA_ROLLED
      for (int j = 0; j < 3; ++j) add_product(e[3 * i + j], e[3 * k + j], q);
      CORNEA_ROLLED
      for (int j = 0; j < 3; ++j) add_cubic(q, e[3 * k + j], m[1 + 3 * i + j]);
    }
  }
}

// The determinant, by elimination with pivoting; m becomes triangular.
CORNEA_HD inline double eliminate(double (&m)[10][kCubic]) {
  double determinant = 1;
  CORNEA_ROLLED
  for (int k = 0; k < 10; ++k) {
    int pivot = k;
    double largest = fabs(m[k][k]);
    CORNEA_ROLLED
    for (int i = k + 1; i < 10; ++i) {
      if (fabs(m[i][k]) > largest) {
        largest = fabs(m[i][k]);
        pivot = i;
      }
    }
    if (pivot != k) {
      determinant = -determinant;
      for (int j = k; j < kCubic; ++j) {
        const double swap = m[k][j];
        m[k][j] = m[pivot][j];
        m[pivot][j] = swap;
      }
    }
    determinant *= m[k][k];
    if (!(largest > 0)) return 0;
    const double inverse = 1 / m[k][k];
    CORNEA_ROLLED
    for (int i = k + 1; i < 10; ++i) {
      const double factor = m[i][k] * inverse;
      for (int j = k + 1; j < kCubic; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  return determinant;
}

inline constexpr int kFocalDegree = 15;

// The determinant as a polynomial in s; coefficients in order of rising powers.
CORNEA_HD inline void focal_polynomial(const FocalSpace& space, double (&p)[kFocalDegree + 1]) {
  constexpr int kNodes = kFocalDegree + 1;
  // cos((2 k + 1) pi / 32); the other nodes are their negatives
  const double positive[kNodes / 2] = {0.9951847266721969,  0.9569403357322088, 0.881921264348355,
                                       0.773010453362737,   0.6343932841636455, 0.4713967368259978,
                                       0.29028467725446233, 0.09801714032956077};
  // Sums of the values times the Chebyshev polynomials, by their recurrence.
  double chebyshev[kNodes];
  for (int j = 0; j < kNodes; ++j) chebyshev[j] = 0;
  CORNEA_ROLLED
  for (int k = 0; k < kNodes; ++k) {
    const double s = k < kNodes / 2 ? positive[k] : -positive[kNodes - 1 - k];
    const double up = 1 + s, down = 1 - s;
    double m[10][kCubic];
    focal_equations(space, up / down, m);
    // The rows of the equations contain factors of sqrt(w), in total w^4.
    const double down2 = down * down, down4 = down2 * down2, down8 = down4 * down4;
    const double up2 = up * up;
    const double value = eliminate(m) * (down8 * down8 * down2 * down) / (up2 * up2);
    double t = 1, last = s;  // T_0 and T_-1 = T_1
    for (int j = 0; j < kNodes; ++j) {
      chebyshev[j] += value * t;
      const double next = 2 * s * t - last;
      last = t;
      t = next;
    }
  }
  // Converts to powers of s; the coefficients of T_j follow the same recurrence.
  double now[kNodes], before[kNodes];
  for (int i = 0; i < kNodes; ++i) p[i] = now[i] = before[i] = 0;
  now[0] = 1;
  before[1] = 1;  // T_-1
  CORNEA_ROLLED
  for (int j = 0; j < kNodes; ++j) {
    const double c = chebyshev[j] * (j == 0 ? 1.0 / kNodes : 2.0 / kNodes);
    for (int i = 0; i <= j; ++i) p[i] += c * now[i];
    for (int i = kNodes - 1; i >= 0; --i) {
      const double next = (i > 0 ? 2 * now[i - 1] : 0.0) - before[i];
      before[i] = next;
    }
    for (int i = 0; i < kNodes; ++i) {
      const double swap = before[i];
      before[i] = now[i];
      now[i] = swap;
    }
  }
}

// F's coefficients for X, Y, Z, and 1 / f.
struct FocalRoot {
  double k[3], g;
};

// At a zero of the determinant: the null vector of the equations is (xxx, xxy, .., x, y, 1). The
// last pivot of the triangular matrix is the zero one, because pivoting moves it there.
CORNEA_HD inline FocalRoot at_zero(const FocalSpace& space, double w) {
  double m[10][kCubic], v[kCubic];
  focal_equations(space, w, m);
  eliminate(m);
  v[9] = 1;
  for (int i = 8; i >= 0; --i) {
    double sum = 0;
    for (int j = i + 1; j < kCubic; ++j) sum += m[i][j] * v[j];
    v[i] = -sum / m[i][i];
  }
  const double norm = 1 / sqrt(v[7] * v[7] + v[8] * v[8] + 1);
  return {{v[7] * norm, v[8] * norm, norm}, sqrt(w)};
}

CORNEA_HD inline Matrix3<double> combine(const FocalSpace& space, const FocalRoot& root) {
  Matrix3<double> f;
  CORNEA_UNROLL
  for (int i = 0; i < 9; ++i) {
    const double* of = space.f[i];
    f.v[i] = of[0] * root.k[0] + of[1] * root.k[1] + of[2] * root.k[2];
  }
  return f;
}

// Gauss-Newton steps on the coefficients and 1 / f, as in the five-point solver. False if they do
// not converge: there is no solution, or a whole line of solutions.
CORNEA_HD inline bool polish(const FocalSpace& space, FocalRoot& root) {
  constexpr int kIterations = 8;
  constexpr double kSettled = 1e-14;  // squared length of the last step
  double length = 1;
  CORNEA_ROLLED
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const Matrix3<double> f = combine(space, root);
    const double held[4] = {root.k[0], root.k[1], root.k[2], 0};
    Matrix3<double> e, derivative[4];
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) {
      const int times = (i / 3 == 2) + (i % 3 == 2);  // the power of 1 / f in this entry
      const double factor = times == 2 ? root.g * root.g : times == 1 ? root.g : 1.0;
      e.v[i] = factor * f.v[i];
      CORNEA_UNROLL
      for (int c = 0; c < 3; ++c) derivative[c].v[i] = factor * space.f[i][c];
      derivative[3].v[i] = times == 2 ? 2 * root.g * f.v[i] : times == 1 ? f.v[i] : 0.0;
    }
    double x[4];
    if (!essential_step(e, derivative, held, x)) return true;
    length = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
    double norm = 0;
    CORNEA_UNROLL
    for (int c = 0; c < 3; ++c) {
      x[c] += root.k[c];
      norm += x[c] * x[c];
    }
    const double g = root.g + x[3];
    if (!(norm < 4 && g > root.g / 2 && g < 2 * root.g)) return false;
    norm = 1 / sqrt(norm);
    CORNEA_UNROLL
    for (int c = 0; c < 3; ++c) root.k[c] = x[c] * norm;
    root.g = g;
  }
  return length < kSettled;
}

}  // namespace six_point

// Calls add(F, focal) for each F of norm 1, with its focal length in units of the guess, that has
// all 6 points in front of the cameras by the oriented epipolar constraint. Returns true if there
// are solutions, including those that violate it.
template <class Add>
CORNEA_HD inline bool for_each_shared_focal(const Sample<double, 6>& s, const Add& add) {
  six_point::FocalSpace space;
  {
    Reflections<6, double> system;
    CORNEA_UNROLL
    for (int i = 0; i < 6; ++i) epipolar_row(s.x1[i], s.y1[i], s.x2[i], s.y2[i], system.v[i]);
    system.factorise();
    constexpr double kLeast = 1e-14;  // the same as kLeastRankOfFive
    if (!(system.rank > kLeast)) return false;
    const Matrix3<double> a = system.null_vector(6), b = system.null_vector(7);
    const Matrix3<double> c = system.null_vector(8);
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) {
      // Any basis would do, except one in which F of cameras that do not rotate has no Z component.
      space.f[i][0] = 0.6 * a.v[i] - 0.8 * b.v[i];
      const double across = 0.8 * a.v[i] + 0.6 * b.v[i];
      space.f[i][1] = 0.8 * across - 0.6 * c.v[i];
      space.f[i][2] = 0.6 * across + 0.8 * c.v[i];
    }
  }
  double p[six_point::kFocalDegree + 1];
  six_point::focal_polynomial(space, p);
  ProjectiveRoot roots[six_point::kFocalDegree];
  const int count = real_roots<six_point::kFocalDegree>(p, roots);
  // w = 1 / f^2
  constexpr double kHighest = 1 / (kLeastFocal * kLeastFocal),
                   kLowest = 1 / (kMostFocal * kMostFocal);
  bool fixed = false;
  for (int i = 0; i < count; ++i) {
    const double up = roots[i].w + roots[i].z, down = roots[i].w - roots[i].z, w = up / down;
    if (!(w >= kLowest && w <= kHighest)) continue;
    six_point::FocalRoot at = six_point::at_zero(space, w);
    if (!six_point::polish(space, at)) continue;
    if (!(at.g >= 1 / kMostFocal && at.g <= 1 / kLeastFocal)) continue;
    fixed = true;
    Vector3<double> left;
    const Matrix3<double> f = rank_two(six_point::combine(space, at), left);
    if (oriented(f, left, s) > 0) add(f, 1 / at.g);
  }
  return fixed;
}

CORNEA_HD inline SharedFocalHypotheses from_six(const Sample<double, 6>& s) {
  SharedFocalHypotheses result;
  result.fixed = for_each_shared_focal(s, [&](const Matrix3<double>& f, double focal) {
    if (result.count == SharedFocalHypotheses::kMost) return;
    result.f[result.count] = converted<float>(f);
    result.focal[result.count++] = float(focal);
  });
  return result;
}

}  // namespace cornea::geometry
