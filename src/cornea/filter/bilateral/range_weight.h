// SPDX-License-Identifier: Apache-2.0
// The weight that the bilateral and the trilateral filter give a neighbour at (m, n) whose value
// differs by d:
//
//   w = exp(-(m^2 + n^2) / (2 sigma_s^2)) exp(-d^2 / (2 sigma_r^2)) = 2^(126 (E - 1))
//   E = 1 - (k_s m)^2 - (k_s n)^2 - (k_r d)^2,   k = sqrt(log2(e) / 2 / 126) / sigma
//
// one power of two per neighbour. E lies in 0..1: 1 is the weight of the centre, 0 is no weight. A
// GPU clamps a sum to this range at no cost (saturation).
//
// Both devices do the same operations in the same order, so that their results are equal to the
// bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "cornea/core/host_device.h"

namespace cornea::bilateral {

// k for a given sigma.
CORNEA_HD inline double exponent_scale(double sigma) { return 0.07566359970942402 / sigma; }

// The parts of E for a distance along y and along x. A position has the sum of both.
CORNEA_HD inline float row_exponent(float k, int n) {
  const float v = k * float(n);
  return -(v * v);
}
CORNEA_HD inline float column_exponent(float k, int m) { return 1 + row_exponent(k, m); }

// A spatial part of E for which the weight is 0.
inline constexpr float kNoWeight = -1000.0f;

// The value of pixels outside the image: their weight is 0.
inline constexpr float kOutside = 1e12f;

// The operations of weight() on a scalar. (weight_pack.h has those on vectors.)
struct FloatOps {
  using Real = float;
  CORNEA_HD static float constant(float v) { return v; }
  CORNEA_HD static float fused(float a, float b, float c) { return std::fma(a, b, c); }
  CORNEA_HD static float at_least_0(float v) {
#ifdef __CUDA_ARCH__
    return __saturatef(v);
#else
    return v > 0 ? v : 0;
#endif
  }
  // Bits 0 to 8 of a float, as the sign and exponent of another.
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

// The weight of a difference d, in units of 1 / k_r, at a position with the given spatial part of
// E. The relative error is 6e-6, with the rounding of E at most 1e-4. Weights below 2^-125.5 are 0,
// so that no weight is denormal. The integer part of 126 E goes into the exponent; 2 2^f for |f| <=
// 1/2 is a polynomial. All operations are rounded alike on every processor.
template <class Ops>
CORNEA_HD inline typename Ops::Real weight(typename Ops::Real d, typename Ops::Real place) {
  using Real = typename Ops::Real;
  const Real e = Ops::at_least_0(Ops::fused(-d, d, place)), scale = Ops::constant(126.0f);
  const Real round = Ops::constant(12582912.0f);  // 1.5 2^23: adding it rounds to an integer
  const Real shifted = Ops::fused(e, scale, round);
  const Real f = Ops::fused(e, scale, -(shifted - round));
  Real p = Ops::fused(f, Ops::constant(2 * 0.0095701f), Ops::constant(2 * 0.05591786f));
  p = Ops::fused(f, p, Ops::constant(2 * 0.24024745f));
  p = Ops::fused(f, p, Ops::constant(2 * 0.69312181f));
  p = Ops::fused(f, p, Ops::constant(2 * 0.99999926f));
  return p * Ops::low_bits_as_power(shifted);
}

#ifdef __CUDACC__
// The same with the GPU's exponential instruction.
struct FastOps {
  using Real = float;
};
template <>
__device__ inline float weight<FastOps>(float d, float place) {
  float w;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(w) : "f"(fmaf(fmaf(-d, d, place), 126.0f, -126.0f)));
  return w;
}
#endif

}  // namespace cornea::bilateral
