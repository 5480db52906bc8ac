// SPDX-License-Identifier: Apache-2.0
// For formulas whose numbers are floats, doubles, or on the CPU several floats at once, one per
// lane.
#pragma once

#include <cmath>

#include "cornea/core/host_device.h"
#ifndef __CUDACC__
#include "cornea/core/simd.h"
#endif

namespace cornea::geometry {

CORNEA_HD inline float root(float v) { return sqrtf(v); }
CORNEA_HD inline double root(double v) { return sqrt(v); }
CORNEA_HD inline float choose(bool condition, float a, float b) { return condition ? a : b; }
CORNEA_HD inline double choose(bool condition, double a, double b) { return condition ? a : b; }

#ifndef __CUDACC__
using Floats = decltype(core::Pack<float>{} + core::Pack<float>{});
using Choices = decltype(core::Pack<float>{} < core::Pack<float>{});

inline Floats root(Floats v) {
  for (int i = 0; i < core::kLanes<float>; ++i) v[i] = sqrtf(v[i]);
  return v;
}
inline Floats choose(Choices condition, Floats a, Floats b) { return condition ? a : b; }
#endif

}  // namespace cornea::geometry
