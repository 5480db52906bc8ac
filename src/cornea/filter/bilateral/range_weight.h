// The weight that the bilateral and the trilateral filter give a neighbour at (m, n) whose value
// differs by d:
//
//   w = exp(-(m^2 + n^2) / (2 sigma_s^2)) exp(-d^2 / (2 sigma_r^2))
//     = 2^-((k_s m)^2 + (k_s n)^2 + (k_r d)^2),   k = sqrt(log2(e) / 2) / sigma
//
// one power of two a neighbour. The centre weighs 1.
#pragma once

#include <cmath>

#include "cornea/core/host_device.h"

namespace cornea::bilateral {

// k of a sigma.
CORNEA_HD inline double exponent_scale(double sigma) { return 0.84932180028801907 / sigma; }

// Stands for a pixel outside the image: its weight is 0, and so is its product with the difference.
inline constexpr float kOutside = 1e12f;

#ifdef __CUDACC__
// 2^e to two units in the last place, in one instruction.
__device__ inline float fast_exp2(float e) {
  float w;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(w) : "f"(e));
  return w;
}
#endif

}  // namespace cornea::bilateral
