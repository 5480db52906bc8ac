// SPDX-License-Identifier: Apache-2.0
// Interpolated gradients of a level on the CPU, four at a time. For functions that are compiled as
// CORNEA_VECTOR_CLONES.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cornea/core/image.h"
#include "cornea/describe/sift/sift_frame.h"

namespace cornea::sift {

// Four samples, or four pixels of a row.
typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
typedef std::int32_t FourWords __attribute__((vector_size(16), aligned(4), may_alias));

inline Four load4(const float* from) { return *reinterpret_cast<const Four*>(from); }
inline void store4(float* to, Four value) { *reinterpret_cast<Four*>(to) = value; }

// Transposes a 4 x 4 matrix.
inline void transpose(Four& a, Four& b, Four& c, Four& d) {
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

struct SamplePlace {
  float x, y;
};
// The nearest position whose 4 x 4 surrounding pixels lie inside the level.
inline SamplePlace place_inside(HostView<const float> level, float x, float y) {
  return {std::clamp(x, 1.0f, static_cast<float>(level.width - 3)),
          std::clamp(y, 1.0f, static_cast<float>(level.height - 3))};
}

// Whether all samples of a grid lie inside the level. The grid is a parallelogram, so its corners
// decide.
inline bool all_inside(HostView<const float> level, const SampleFrame& frame, int samples) {
  const auto last = static_cast<float>(samples - 1);
  bool inside = true;
  for (int corner = 0; corner < 4; ++corner) {
    const float i = corner % 2 ? last : 0, j = corner / 2 ? last : 0;
    const float x = (frame.x + j * frame.vx) + i * frame.ux;
    const float y = (frame.y + j * frame.vy) + i * frame.uy;
    // With a margin: the corners are computed like the samples, so that none lies beyond them.
    inside &= is_sampled(x - 0.01f, y - 0.01f, level.width, level.height) &&
              is_sampled(x + 0.01f, y + 0.01f, level.width, level.height);
  }
  return inside;
}

struct FourGradients {
  Four gx, gy;
};
// The gradients at samples i .. i + 3 of row j. Samples outside the level get a weight of 0 and are
// read at `instead`; with `inside` there are none. Samples beyond the end of the row repeat the
// last one.
template <bool inside>
inline FourGradients gradients_at(HostView<const float> level, const SampleFrame& frame,
                                  SamplePlace instead, int i, int j, Four& weight,
                                  int samples = 4) {
  const float row_x = frame.x + static_cast<float>(j) * frame.vx;
  const float row_y = frame.y + static_cast<float>(j) * frame.vy;
  Four index = Four{0, 1, 2, 3} + static_cast<float>(i);
  if (samples % 4 != 0) {
    const Four last = Four{} + static_cast<float>(samples - 1);
    index = index < last ? index : last;
  }
  Four x = row_x + index * frame.ux, y = row_y + index * frame.uy;
  if constexpr (!inside) {
    for (int k = 0; k < 4; ++k) {
      if (is_sampled(x[k], y[k], level.width, level.height)) continue;
      x[k] = instead.x, y[k] = instead.y;
      weight[k] = 0;
    }
  }
  const FourWords column = __builtin_convertvector(x, FourWords);
  const FourWords row = __builtin_convertvector(y, FourWords);
  const Four fx = x - __builtin_convertvector(column, Four);
  const Four fy = y - __builtin_convertvector(row, Four);
  Four across[4], down[4];
  for (int k = 0; k < 4; ++k) {
    const float* at = level.data + level.stride * (row[k] - 1) + column[k] - 1;
    const Four r0 = load4(at), r1 = load4(at + level.stride);
    const Four r2 = load4(at + 2 * level.stride), r3 = load4(at + 3 * level.stride);
    const Four f = Four{} + fy[k];
    across[k] = mix(r1, r2, f);
    down[k] = mix(r2 - r0, r3 - r1, f);
  }
  transpose(across[0], across[1], across[2], across[3]);
  transpose(down[0], down[1], down[2], down[3]);
  return {mix(across[2] - across[0], across[3] - across[1], fx), mix(down[1], down[2], fx)};
}

}  // namespace cornea::sift
