// SPDX-License-Identifier: Apache-2.0
// Internal to io: spreads a range of stored values over the whole range of their type.
#pragma once

#include <array>
#include <optional>

#include "cornea/io/decoded.h"

namespace cornea::io {

// Applies `range` to the pixels. Returns the stored values that became black and white, if any were
// changed.
std::optional<std::array<double, 2>> spread(DecodedImage& image, const PixelRange& range);

}  // namespace cornea::io
