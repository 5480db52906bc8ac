// SPDX-License-Identifier: Apache-2.0
// All real roots of a polynomial, shared by CPU and CUDA: Sturm's theorem isolates them, Newton's
// method with bisection as a fallback refines them.
#pragma once

#include <cmath>

#include "cornea/core/host_device.h"
#include "cornea/geometry/solvers/rolled.h"

namespace cornea::geometry {

// A root z / w of a polynomial; w is 0 at infinity. The larger of |z| and w is 1.
struct ProjectiveRoot {
  double z, w;
};

// Maps s in [-2, 2], in rising order, to the real line with infinity at both ends: z / w is s for
// |s| <= 1, and 1 / (2 - s) or -1 / (2 + s) beyond.
CORNEA_HD inline ProjectiveRoot on_line(double s) {
  if (s > 1) return {1, 2 - s};
  if (s < -1) return {-1, 2 + s};
  return {s, 1};
}

// The Sturm chain of a polynomial c[0] + c[1] x + .. + c[degree] x^degree and its derivative,
// stored as its linear quotients: f[i-1] = (a x + b) f[i] - c f[i+1].
template <int degree>
struct SturmChain {
  double a[degree], b[degree], c[degree];
  double last;

  // False if the chain ends early: the polynomial has a lower degree, or an exact double root.
  CORNEA_HD bool set(const double (&p)[degree + 1]) {
    double f[degree + 1], g[degree + 1];
    const double size = fabs(p[degree]), sign = p[degree] < 0 ? -1 : 1;
    for (int i = 0; i <= degree; ++i) f[i] = p[i] / size;
    for (int i = 0; i < degree; ++i) g[i] = i + 1 == degree ? sign : f[i + 1] * (i + 1) / degree;
    // The leading coefficients of f and g are 1 or -1, and so are those of all later polynomials.
    CORNEA_ROLLED
    for (int n = degree; n > 0; --n) {
      const int k = degree - n;
      a[k] = f[n] * g[n - 1];
      b[k] = n > 1 ? (f[n - 1] - a[k] * g[n - 2]) * g[n - 1] : f[0] * g[0];
      if (n == 1) {
        c[k] = 0;
        last = g[0];
        break;
      }
      // The remainder, of degree n - 2, replaces f.
      for (int i = n - 2; i >= 0; --i) {
        f[i] = b[k] * g[i] - f[i] + (i > 0 ? a[k] * g[i - 1] : 0.0);
      }
      c[k] = fabs(f[n - 2]);
      if (!(c[k] > 0)) return false;
      for (int i = 0; i < n - 2; ++i) f[i] /= c[k];
      f[n - 2] = f[n - 2] < 0 ? -1 : 1;
      for (int i = 0; i < n; ++i) {
        const double swap = f[i];
        f[i] = g[i];
        g[i] = swap;
      }
    }
    return last - last == 0;
  }

  // The number of sign changes along the chain. From one point to another it decreases by the
  // number of roots between them.
  CORNEA_HD int changes(const ProjectiveRoot& at) const {
    const double ww = at.w * at.w;
    double later = 0, value = last;
    int count = 0;
    CORNEA_UNROLL
    for (int k = degree - 1; k >= 0; --k) {
      const double next = (a[k] * at.z + b[k] * at.w) * value - ww * (c[k] * later);
      count += (next < 0) != (value < 0);
      later = value;
      value = next;
    }
    return count;
  }
};

// The polynomial and its derivative with respect to the parameter s of `on_line`.
template <int degree>
CORNEA_HD inline double polynomial(const double (&p)[degree + 1], double s, double& slope) {
  double value;
  slope = 0;
  if (s >= -1 && s <= 1) {
    value = p[degree];
    CORNEA_UNROLL
    for (int i = degree - 1; i >= 0; --i) {
      slope = slope * s + value;
      value = value * s + p[i];
    }
    return value;
  }
  // As a polynomial in w: +-c[0] w^degree + .. + c[degree], where z is 1 or -1.
  const double z = s < 0 ? -1 : 1, w = s < 0 ? 2 + s : 2 - s;
  value = p[0];
  double power = 1;
  CORNEA_UNROLL
  for (int i = 1; i <= degree; ++i) {
    power *= z;
    slope = slope * w + value;
    value = value * w + power * p[i];
  }
  slope *= -z;  // dw / ds
  return value;
}

// The root between two points where the signs differ. If they do not, one of the points is the root
// up to rounding.
template <int degree>
CORNEA_HD inline double root_between(const double (&p)[degree + 1], double low, double high) {
  double slope;
  const double at_low = polynomial<degree>(p, low, slope);
  const double at_high = polynomial<degree>(p, high, slope);
  const bool rises = at_low < 0;
  if (rises == (at_high < 0)) return fabs(at_low) < fabs(at_high) ? low : high;
  double s = (low + high) / 2;
  constexpr int kIterations = 60;
  CORNEA_ROLLED
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const double value = polynomial<degree>(p, s, slope);
    if (value == 0) break;
    ((value < 0) == rises ? low : high) = s;
    double next = s - value / slope;
    if (!(next > low && next < high)) next = (low + high) / 2;
    const double step = fabs(next - s);
    s = next;
    if (step < 1e-15) break;
  }
  return s;
}

// Finds the roots in rising order, at most `degree`, and returns their number. Roots closer to each
// other than kNearest are all reported at the same position.
template <int degree>
CORNEA_HD inline int real_roots(const double (&p)[degree + 1], ProjectiveRoot (&roots)[degree]) {
  SturmChain<degree> chain;
  if (!chain.set(p)) return 0;
  const int first = chain.changes({-1, 0});
  const int count = first - chain.changes({1, 0});
  if (count <= 0 || count > degree) return 0;
  // The bounds of each root; each division of the line narrows the bounds of all roots.
  double low[degree], high[degree];
  for (int k = 0; k < count; ++k) low[k] = -2, high[k] = 2;
  auto divide = [&](double s, int from) {
    const int before = first - chain.changes(on_line(s));
    for (int k = from; k < count; ++k) {
      if (k < before) {
        if (s < high[k]) high[k] = s;
      } else if (s > low[k]) {
        low[k] = s;
      }
    }
  };
  divide(-1, 0);
  divide(1, 0);
  constexpr double kNearest = 1e-11;
  CORNEA_ROLLED
  for (int k = 0; k < count; ++k) {
    // Earlier roots are done. A root is isolated once the next root's bounds do not overlap its
    // own.
    while (k + 1 < count && low[k + 1] < high[k] && high[k] - low[k] > kNearest) {
      divide((low[k] + high[k]) / 2, k);
    }
    const bool alone = high[k] - low[k] > kNearest;
    const double s = alone ? root_between<degree>(p, low[k], high[k]) : (low[k] + high[k]) / 2;
    roots[k] = on_line(s);
  }
  return count;
}

}  // namespace cornea::geometry
