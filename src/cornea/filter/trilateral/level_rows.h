// SPDX-License-Identifier: Apache-2.0
// The min-max stack of gradient magnitudes on the CPU, and the level of each pixel.
#pragma once

#include <cstdint>

#include "cornea/core/image.h"

namespace cornea::trilateral {

// Rows that are computed together: each block needs one extra row per level on both sides.
inline constexpr int kLevelRows = 48;

// Writes the rows [begin, end) of the levels, given the `squared` magnitudes.
void level_rows(HostView<const float> squared, double sigma_r, int level_count, int begin, int end,
                HostView<std::uint8_t> levels);

}  // namespace cornea::trilateral
