#pragma once

#include "cornea/core/image.h"

namespace cornea::python {

// Any image on the host as 8-bit RGB, as the program reads files for its pictures.
Image<Rgb<std::uint8_t>> colours_of(const AnyView& image);

}  // namespace cornea::python
