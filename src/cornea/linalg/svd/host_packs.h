// SPDX-License-Identifier: Apache-2.0
// For the CPU's loops: several matrices side by side, one per lane of a pack.
#pragma once

#include <cmath>
#include <limits>

#include "cornea/core/simd.h"

namespace cornea::svd::CORNEA_ISA {

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
  static Real fused(Real a, Real b, Real c) { return core::fused(a, b, c); }
  static Real quotient(Real a, Real b) { return a / b; }
  static Real root(Real v) {
    for (int i = 0; i < core::kLanes<T>; ++i) v[i] = std::sqrt(v[i]);
    return v;
  }
  static bool any(Mask m) {
    auto sum = m[0];
    for (int i = 1; i < core::kLanes<T>; ++i) sum |= m[i];
    return sum != 0;
  }
};

// a(0) b(0) + .. + a(count - 1) b(count - 1), summed in blocks; Kahan summation over the blocks
// makes sums of thousands of terms as accurate as sums of a few dozen.
template <class T, class A, class B>
inline core::Pack<T> sum_of_products(int count, const A& a, const B& b) {
  constexpr int kBlock = 32;
  core::Pack<T> sum{}, lost{};
  for (int begin = 0; begin < count; begin += kBlock) {
    const int end = count - begin < kBlock ? count : begin + kBlock;
    core::Pack<T> even{}, odd{};
    int i = begin;
    for (; i + 1 < end; i += 2) {
      even = core::fused(a(i), b(i), even);
      odd = core::fused(a(i + 1), b(i + 1), odd);
    }
    if (i < end) even = core::fused(a(i), b(i), even);
    const core::Pack<T> part = (even + odd) - lost;
    const core::Pack<T> next = sum + part;
    lost = (next - sum) - part;
    sum = next;
  }
  return sum;
}

}  // namespace cornea::svd::CORNEA_ISA
