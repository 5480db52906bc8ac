// SPDX-License-Identifier: Apache-2.0
// Formulas that the CPU and CUDA share: the two-sided rotation of a 2 x 2 block, the one-sided
// rotation of two columns, the Brent-Luk order and the thresholds.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "cornea/core/host_device.h"

namespace cornea::svd {

// Matrices whose smaller side is at most this are diagonalised by Kogbetliantz rotations, larger
// ones by one-sided Jacobi rotations.
inline constexpr int kMostSmall = 32;

// As constants, which device code can use.
template <class T>
inline constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
template <class T>
inline constexpr T kSmallest = std::numeric_limits<T>::min();
template <class T>
inline constexpr T kLargest = std::numeric_limits<T>::max();
template <class T>
inline constexpr T kNotANumber = std::numeric_limits<T>::quiet_NaN();

// The operations on a number, so that formulas are written once for a device thread, for a host
// number and for a pack of numbers (host_packs.h).
template <class T>
struct ScalarOps {
  using Real = T;
  using Scalar = T;
  using Mask = bool;
  CORNEA_HD static T constant(T v) { return v; }
  CORNEA_HD static T magnitude(T v) { return v < 0 ? -v : v; }
  CORNEA_HD static T larger(T a, T b) { return a < b ? b : a; }
  CORNEA_HD static T smaller(T a, T b) { return b < a ? b : a; }
  CORNEA_HD static T choose(bool m, T a, T b) { return m ? a : b; }
  CORNEA_HD static T fused(T a, T b, T c) { return std::fma(a, b, c); }
  // These may be approximate: their results only steer the rotations or are corrected afterwards.
  CORNEA_HD static T root(T v) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<T, float>) {
      float r;
      asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
      return r;
    } else {
      return sqrt(v);
    }
#else
    return std::sqrt(v);
#endif
  }
  CORNEA_HD static T quotient(T a, T b) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<T, float>) return __fdividef(a, b);
#endif
    return a / b;
  }
};

// A plane rotation by an angle w as s = sin w and tau = tan(w / 2) (Rutishauser 1966):
//   x' = x - s (y + tau x) = cos w x - sin w y,   y' = y + s (x - tau y) = sin w x + cos w y.
// A small rotation rounds x and y only once, and preserves lengths as accurately as s allows.
template <class Ops>
struct Rotation {
  typename Ops::Real s, tau;
};

template <class Ops>
CORNEA_HD inline typename Ops::Real rotated_first(typename Ops::Real x, typename Ops::Real y,
                                                  typename Ops::Real s, typename Ops::Real tau) {
  return Ops::fused(-s, Ops::fused(tau, x, y), x);
}
template <class Ops>
CORNEA_HD inline typename Ops::Real rotated_second(typename Ops::Real x, typename Ops::Real y,
                                                   typename Ops::Real s, typename Ops::Real tau) {
  return Ops::fused(s, Ops::fused(-tau, y, x), y);
}

// s = 2 tau / (1 + tau^2) from an approximate 1 / (1 + tau^2): whatever the error of tau, (s, tau)
// is a rotation up to the rounding of s, and one Newton step makes that accurate enough.
template <class Ops>
CORNEA_HD inline Rotation<Ops> rotation_of(typename Ops::Real tau, typename Ops::Real length,
                                           typename Ops::Real rough) {
  const auto inverse = Ops::fused(rough, Ops::fused(-rough, length, Ops::constant(1)), rough);
  return {(tau + tau) * inverse, tau};
}

// tan(w / 2) for tan w = g / f, |w| <= pi / 2.
template <class Ops>
CORNEA_HD inline typename Ops::Real half_tangent(typename Ops::Real f, typename Ops::Real g) {
  using Real = typename Ops::Real;
  const Real af = Ops::magnitude(f), ag = Ops::magnitude(g);
  // Squares of the smallest numbers underflow to 0, so the hypotenuse is clamped to at least its
  // longer side.
  const Real hypotenuse = Ops::larger(Ops::root(Ops::fused(f, f, g * g)), Ops::larger(af, ag));
  const Real smallest = Ops::constant(kSmallest<typename Ops::Scalar>);
  const Real t = Ops::quotient(g, Ops::larger(af + hypotenuse, smallest));
  return Ops::choose(f < Ops::constant(0), -t, t);
}

// The left and right rotation that make a 2 x 2 block diagonal. With J = (0 -1; 1 0),
//   (a b; c d) = e I + h J + f diag(1, -1) + g (0 1; 1 0),
//   2e = a + d, 2f = a - d, 2g = b + c, 2h = c - b,
// and rotations by w from the left and z from the right rotate (f, g) by w + z and (e, h) by w - z:
//   w + z = -atan(g / f),   w - z = -atan(h / e).
// Both are at most a right angle, and small if the block is nearly diagonal and its singular values
// are well separated.
template <class Ops>
struct TwoSided {
  Rotation<Ops> left, right;
};

template <class Ops>
CORNEA_HD inline TwoSided<Ops> two_sided_rotation(typename Ops::Real a, typename Ops::Real b,
                                                  typename Ops::Real c, typename Ops::Real d) {
  using Real = typename Ops::Real;
  const Real one = Ops::constant(1);
  const Real t1 = half_tangent<Ops>(a - d, b + c);
  const Real t2 = half_tangent<Ops>(a + d, c - b);
  // cos w cos z etc. share the denominator r = sqrt((1 + t1^2) (1 + t2^2)): r cos w = 1 - t1 t2,
  // r sin w = -(t1 + t2), r cos z = 1 + t1 t2, r sin z = t2 - t1; tan(w / 2) = sin w / (1 + cos w).
  const Real r = Ops::root(Ops::fused(t1, t1, one) * Ops::fused(t2, t2, one));
  const Real left_base = Ops::fused(-t1, t2, one) + r, right_base = Ops::fused(t1, t2, one) + r;
  const Real inverse = Ops::quotient(one, left_base * right_base);
  const Real left_tau = -(t1 + t2) * (right_base * inverse);
  const Real right_tau = (t2 - t1) * (left_base * inverse);
  const Real left_length = Ops::fused(left_tau, left_tau, one);
  const Real right_length = Ops::fused(right_tau, right_tau, one);
  const Real rough = Ops::quotient(one, left_length * right_length);
  return {rotation_of<Ops>(left_tau, left_length, rough * right_length),
          rotation_of<Ops>(right_tau, right_length, rough * left_length)};
}

// Whether the block (a b; c d) of a matrix with this norm is not yet diagonal. If a and d are equal
// in magnitude, the rounding of the left and right angles leaves one or two epsilon of them in b
// and c, whatever they were (first bound); otherwise it leaves far less, and the second bound
// decides.
template <class Ops>
CORNEA_HD inline typename Ops::Mask needs_rotation(typename Ops::Real a, typename Ops::Real b,
                                                   typename Ops::Real c, typename Ops::Real d,
                                                   typename Ops::Real norm) {
  using Scalar = typename Ops::Scalar;
  const auto off = Ops::larger(Ops::magnitude(b), Ops::magnitude(c));
  const auto on = Ops::smaller(Ops::magnitude(a), Ops::magnitude(d));
  return off > Ops::larger(Ops::constant(2 * kEpsilon<Scalar>) * on,
                           Ops::constant(kEpsilon<Scalar> / 16) * norm);
}

// Rounding errors accumulate: a few hundred rotations leave 10 epsilon. Where float would exceed
// its error bound, U and V are made orthonormal again after the first sweeps by a Newton-Schulz
// iteration, U <- (3 I - U U^T) U / 2, and U^T A V is recomputed from A: the remaining rotations
// are then small.
template <class T>
CORNEA_HD constexpr bool refreshes(int n) {
  return sizeof(T) == sizeof(float) && n > 4;
}
// Sweeps before the refresh.
CORNEA_HD constexpr int first_sweeps(int n) { return n <= 6 ? 3 : n <= 16 ? 4 : 5; }

// The rotation of columns x, y that makes them orthogonal, from xx = |x|^2, yy = |y|^2, xy = x.y:
//   tan 2w = 2 xy / (yy - xx), |w| <= pi / 4, with x' = cos w x - sin w y.
template <class T>
CORNEA_HD inline Rotation<ScalarOps<T>> one_sided_rotation(T xx, T yy, T xy) {
  using Ops = ScalarOps<T>;
  const T t = half_tangent<Ops>(yy - xx, xy + xy);
  const T tau = Ops::quotient(t, T(1) + Ops::root(Ops::fused(t, t, T(1))));
  const T length = Ops::fused(tau, tau, T(1));
  return rotation_of<Ops>(tau, length, Ops::quotient(T(1), length));
}

// Columns whose cosine is below this count as orthogonal; it lies above the rounding error of their
// dot product.
template <class T>
inline constexpr T kColumnTolerance = 4 * kEpsilon<T>;

// The one-sided algorithm returns 0 for singular values below this fraction of the largest column.
template <class T>
inline constexpr T kNoRank = kEpsilon<T>* kEpsilon<T>;

// ---- The Brent-Luk order ---------------------------------------------------------------------
// n (even) indices occupy n / 2 pairs of slots (2j, 2j + 1); initially index i is in slot i. All
// pairs rotate at once; then the contents of all slots but slot 0 advance by one position on the
// ring
//   1 -> 2 -> 4 -> .. -> n - 2 -> n - 1 -> n - 3 -> .. -> 3 -> 1,
// so that only neighbours exchange data. After n - 1 steps every two indices have met once, and
// every index is back in its slot.

CORNEA_HD constexpr int next_slot(int slot, int n) {
  if (slot == 0 || n == 2) return slot;
  if (slot == 1) return 2;
  if (slot % 2 == 1) return slot - 2;
  return slot == n - 2 ? n - 1 : slot + 2;
}

// The slot at a position on the ring; position 0 is slot 1.
CORNEA_HD constexpr int ring_slot(int place, int n) {
  if (place == 0) return 1;
  return place < n / 2 ? 2 * place : 2 * (n - 1 - place) + 1;
}
// The inverse, for all slots except 0.
CORNEA_HD constexpr int ring_place(int slot, int n) {
  if (slot == 1) return 0;
  return slot % 2 == 0 ? slot / 2 : n - 1 - slot / 2;
}

// The pair of an index at a step (0 <= step < n - 1), and its partner.
struct Meeting {
  int pair;     // the j of its slots 2j and 2j + 1
  bool second;  // in slot 2j + 1
  int partner;  // the index in the other slot
};

// `place` is the current position of the index on the ring (ignored for index 0); `back` is added
// to a current position to get the initial one: (n - 1 - step) mod (n - 1).
CORNEA_HD constexpr Meeting meeting_at(int index, int place, int back, int n) {
  const int ring = n - 1;
  if (index == 0) return {0, false, ring_slot(back, n)};
  if (place == 0) return {0, true, 0};
  const int other = ring - place;  // the two positions of a pair are opposite on the ring
  const int first = other + back;
  return {place < other ? place : other, place >= n / 2,
          ring_slot(first >= ring ? first - ring : first, n)};
}
CORNEA_HD constexpr Meeting meeting_of(int index, int step, int n) {
  const int ring = n - 1;
  const int place = index == 0 ? 0 : (ring_place(index, n) + step) % ring;
  return meeting_at(index, place, (ring - step) % ring, n);
}
// The index in slot 2j at this step; meeting_of() gives its partner.
CORNEA_HD constexpr int first_of_pair(int pair, int step, int n) {
  const int ring = n - 1;
  return pair == 0 ? 0 : ring_slot((pair + ring - step) % ring, n);
}

// e with 1/2 <= largest 2^-e < 1, for largest > 0.
template <class T>
CORNEA_HD inline int scale_exponent(T largest) {
  int e = 0;
#ifdef __CUDA_ARCH__
  frexp(largest, &e);
#else
  std::frexp(largest, &e);
#endif
  return e;
}

// Multiplies by 2^e in two steps, because 2^e itself may over- or underflow.
template <class T>
struct PowerOfTwo {
  CORNEA_HD explicit PowerOfTwo(int e) {
#ifdef __CUDA_ARCH__
    first = ldexp(T(1), e / 2);
    second = ldexp(T(1), e - e / 2);
#else
    first = std::ldexp(T(1), e / 2);
    second = std::ldexp(T(1), e - e / 2);
#endif
  }
  CORNEA_HD T operator()(T v) const { return v * first * second; }
  T first, second;
};

}  // namespace cornea::svd
