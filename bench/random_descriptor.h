// SPDX-License-Identifier: Apache-2.0
// For benches: a descriptor like SIFT's, with many small numbers, few large ones and a length of
// 512.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cornea/core/features.h"
#include "cornea/core/random.h"

namespace cornea::cli {

inline void draw_descriptor(core::Random& random, std::uint8_t* to) {
  float values[Features::kLength], sum = 0;
  for (float& v : values) {
    const float u = core::unit_float(random.bits());
    v = u * u;
    sum += v * v;
  }
  const float scale = 512 / std::sqrt(sum);
  for (int k = 0; k < Features::kLength; ++k) {
    to[k] = static_cast<std::uint8_t>(std::min(255.0f, values[k] * scale));
  }
}

}  // namespace cornea::cli
