// SPDX-License-Identifier: Apache-2.0
// Internal to report: photographs reduced for a page.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/image.h"

namespace cornea::report {

// Every pixel is the mean of the area it covers; an image that is small enough is copied.
Image<Rgb<std::uint8_t>> scaled_down(const Context& context,
                                     HostView<const Rgb<std::uint8_t>> image, int longest_side);

struct Preview {
  std::vector<std::uint8_t> jpeg;
  int width = 0, height = 0;
};

// A JPEG of at most `most_bytes`: the quality is reduced first, then the size. If even one with a
// side below 64 pixels is larger, that one.
Preview make_preview(const Context& context, HostView<const Rgb<std::uint8_t>> image,
                     int longest_side, std::size_t most_bytes);

}  // namespace cornea::report
