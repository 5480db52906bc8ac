// The stack of gradient magnitudes on the CPU, and the levels that it gives.
#pragma once

#include <cstdint>

#include "cornea/core/image.h"

namespace cornea::trilateral {

// Rows that are worth making together: each needs as many more as there are levels on both sides.
inline constexpr int kLevelRows = 48;

// Writes the rows [begin, end) of the levels of `squared` magnitudes.
void level_rows(HostView<const float> squared, double sigma_r, int level_count, int begin, int end,
                HostView<std::uint8_t> levels);

}  // namespace cornea::trilateral
