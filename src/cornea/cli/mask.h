// SPDX-License-Identifier: Apache-2.0
// Reads mask files for commands that take them.
#pragma once

#include <string>

#include "cornea/core/image.h"
#include "cornea/io/image_file.h"

namespace cornea::cli {

// 255 where the pixel is not black, however dark; 0 elsewhere.
Image<std::uint8_t> read_mask(const std::string& file, const ReadOptions& options);

}  // namespace cornea::cli
