// SPDX-License-Identifier: Apache-2.0
// Moravec's operator as a plain loop: the reference for every rung of the ladder.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/core/features.h"
#include "cornea/core/image.h"

namespace cornea::study {

inline constexpr int kMoravecMargin = 2;  // a window of 3 x 3, shifted by one
inline constexpr int kMoravecThreshold = 1500;

// The minimum over 8 shifts of the sum of squared differences over 3 x 3 pixels; 0 in the margin.
std::vector<std::int32_t> plain_moravec(HostView<const std::uint8_t> image);

// Pixels above the threshold that are the maximum of their 3 x 3 neighbourhood; ties keep the first
// in reading order.
std::vector<Corner> plain_peaks(const std::vector<std::int32_t>& map, int width, int height);

}  // namespace cornea::study
