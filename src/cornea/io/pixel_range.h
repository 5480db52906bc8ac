// SPDX-License-Identifier: Apache-2.0
// Inside of io: values of a file spread over the whole range of their type.
#pragma once

#include <array>
#include <optional>

#include "cornea/io/decoded.h"

namespace cornea::io {

// What `range` asks for, done to the pixels. Returns the stored values that became black and white,
// where any were changed.
std::optional<std::array<double, 2>> spread(DecodedImage& image, const PixelRange& range);

}  // namespace cornea::io
