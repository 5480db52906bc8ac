// The weight that the bilateral and the trilateral filter give a neighbour at (m, n) whose value
// differs by d:
//
//   w = exp(-(m^2 + n^2) / (2 sigma_s^2)) exp(-d^2 / (2 sigma_r^2))
//     = 2^-((k_s m)^2 + (k_s n)^2 + (k_r d)^2),   k = sqrt(log2(e) / 2) / sigma
//
// one power of two per neighbour. The centre weighs 1.
//
// Both devices add the same numbers in the same order, so that their results are equal to the bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "cornea/core/host_device.h"

namespace cornea::bilateral {

// k of a sigma.
CORNEA_HD inline double exponent_scale(double sigma) { return 0.84932180028801907 / sigma; }

// A distance's part of the exponent, -(k m)^2. That of a place is the sum of its two distances'.
CORNEA_HD inline float distance_exponent(float k, int distance) {
  const float u = k * float(distance);
  return -(u * u);
}

// An exponent, or a part of one, that leaves no weight.
inline constexpr float kNoWeight = -1000.0f;

// Stands for a pixel outside the image: its weight is 0.
inline constexpr float kOutside = 1e12f;

// The operations that power_of_two() needs, of a number. (exp2_pack.h has those of a pack.)
struct FloatOps {
  using Real = float;
  CORNEA_HD static float constant(float v) { return v; }
  CORNEA_HD static float fused(float a, float b, float c) { return std::fma(a, b, c); }
  CORNEA_HD static float at_least(float e, float least) { return e > least ? e : least; }
  // Bits 0..8 of a float, as sign and exponent of another.
  CORNEA_HD static float low_bits_as_power(float v) {
#ifdef __CUDA_ARCH__
    return __uint_as_float(__float_as_uint(v) << 23);
#else
    std::uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    bits <<= 23;
    std::memcpy(&v, &bits, sizeof v);
    return v;
#endif
  }
};

// 2^e for e <= 0, to 3e-6 of itself, and 0 below 2^-125.5: no result is too small to be a normal
// number. The whole part goes to the exponent; 2 2^f for |f| <= 1/2 is a polynomial. Fixed
// operations that every processor rounds alike.
template <class Ops>
CORNEA_HD inline typename Ops::Real power_of_two(typename Ops::Real e) {
  using Real = typename Ops::Real;
  // 1.5 2^23: sums with it have no fraction. 126: the exponent of the result's half, as it is
  // stored.
  const Real round = Ops::constant(12582912.0f + 126.0f);
  e = Ops::at_least(e, -126.0f);
  const Real shifted = e + round;
  const Real f = e - (shifted - round);
  Real p = Ops::fused(f, Ops::constant(2 * 0.0095701f), Ops::constant(2 * 0.05591786f));
  p = Ops::fused(f, p, Ops::constant(2 * 0.24024745f));
  p = Ops::fused(f, p, Ops::constant(2 * 0.69312181f));
  p = Ops::fused(f, p, Ops::constant(2 * 0.99999926f));
  return p * Ops::low_bits_as_power(shifted);
}

}  // namespace cornea::bilateral
