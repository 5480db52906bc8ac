// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cornea/core/image.h"

namespace cornea::python {

// Any host image as 8-bit RGB, converted as the program does for its pictures.
Image<Rgb<std::uint8_t>> colours_of(const AnyView& image);

}  // namespace cornea::python
