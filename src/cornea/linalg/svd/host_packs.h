// For the host's loops: several matrices side by side in the lanes of a pack.
#pragma once

#include <cmath>
#include <limits>

#include "cornea/core/simd.h"

namespace cornea::svd {

template <class T>
struct PackOps {
  using Real = core::Pack<T>;
  using Scalar = T;
  using Mask = decltype(core::Pack<T>{} < core::Pack<T>{});

  static Real constant(T v) { return core::pack_of<T>(v); }
  static Real choose(Mask m, Real a, Real b) { return m ? a : b; }
  static Real magnitude(Real v) { return v < Real{} ? -v : v; }
  static Real larger(Real a, Real b) { return a < b ? b : a; }
  static Real smaller(Real a, Real b) { return b < a ? b : a; }
  static Real fused(Real a, Real b, Real c) { return a * b + c; }
  static Real quotient(Real a, Real b) { return a / b; }
  static Real root(Real v) {
    Real r;
    for (int i = 0; i < core::kLanes<T>; ++i) r[i] = std::sqrt(v[i]);
    return r;
  }
  static bool any(Mask m) {
    auto sum = m[0];
    for (int i = 1; i < core::kLanes<T>; ++i) sum |= m[i];
    return sum != 0;
  }
};

// term(0) + .. + term(count - 1): in blocks, and those with what rounding loses carried on (Kahan),
// so that sums of thousands are as exact as sums of some tens.
template <class T, class Term>
inline core::Pack<T> sum_of_terms(int count, const Term& term) {
  constexpr int kBlock = 32;
  core::Pack<T> sum{}, lost{};
  for (int begin = 0; begin < count; begin += kBlock) {
    const int end = count - begin < kBlock ? count : begin + kBlock;
    core::Pack<T> even{}, odd{};
    int i = begin;
    for (; i + 1 < end; i += 2) {
      even += term(i);
      odd += term(i + 1);
    }
    if (i < end) even += term(i);
    const core::Pack<T> part = (even + odd) - lost;
    const core::Pack<T> next = sum + part;
    lost = (next - sum) - part;
    sum = next;
  }
  return sum;
}

}  // namespace cornea::svd
