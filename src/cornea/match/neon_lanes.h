// SPDX-License-Identifier: Apache-2.0
// For the tile_*.cc files only; like tile_walk.h it is compiled separately in each: four 32-bit
// lanes of NEON.
#pragma once

#include <cstdint>

#include <arm_neon.h>

#include "cornea/match/match_math.h"

namespace cornea::match {
namespace {

struct NeonLanes {
  using Vector = int32x4_t;
  static constexpr int kLanes = 4;

  static Vector load(const std::int32_t* p) { return vld1q_s32(p); }
  static void store(std::int32_t* p, Vector v) { vst1q_s32(p, v); }
  static Vector same(std::int32_t v) { return vdupq_n_s32(v); }
  static Vector min(Vector a, Vector b) { return vminq_s32(a, b); }
  static Vector max(Vector a, Vector b) { return vmaxq_s32(a, b); }
  static Vector minus_scaled(Vector base, Vector product) {
    return vmlsq_s32(base, product, vdupq_n_s32(kProductScale));
  }
};

}  // namespace
}  // namespace cornea::match
