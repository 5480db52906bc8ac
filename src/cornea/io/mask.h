// SPDX-License-Identifier: Apache-2.0
// Masks: images in which only black and not black are distinguished.
#pragma once

#include <cstdint>

#include "cornea/core/image.h"
#include "cornea/io/image_file.h"

namespace cornea::io {

// 255 where the image is not black, however dark it is; 0 elsewhere.
Image<std::uint8_t> as_mask(const GrayImage& image);

}  // namespace cornea::io
