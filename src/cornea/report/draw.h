// SPDX-License-Identifier: Apache-2.0
// Marks on images that stay legible on any background and at any size.
#pragma once

#include <span>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"

namespace cornea {

struct DrawOptions {
  // amber: visible to colour-blind people, rare in photographs
  Rgb<std::uint8_t> colour{255, 176, 0};
  // Of matches; if there are more, an even sample is drawn; 0: all.
  int most_lines = 200;
  // Images whose longer side is below this are enlarged by an integer factor, at most 8.
  int smallest_side = 640;
};

// The image, enlarged if it is small, with a ring around every corner: a bright line between two
// dark ones, of a size in proportion to the image.
CORNEA_API Image<Rgb<std::uint8_t>> draw_corners(const Context& context,
                                                 HostView<const Rgb<std::uint8_t>> image,
                                                 std::span<const Corner> corners,
                                                 const DrawOptions& options = {});

// The same for points with scale and angle: the ring's radius is twice the point's scale, and a
// line from its centre shows the angle.
CORNEA_API Image<Rgb<std::uint8_t>> draw_features(const Context& context,
                                                  HostView<const Rgb<std::uint8_t>> image,
                                                  std::span<const Keypoint> points,
                                                  const DrawOptions& options = {});

// Both images side by side, enlarged by the same factor, with a line for every match from its point
// in the first to its point in the second. Neighbouring lines differ in colour; `options.colour` is
// not used.
CORNEA_API Image<Rgb<std::uint8_t>> draw_matches(const Context& context,
                                                 HostView<const Rgb<std::uint8_t>> first,
                                                 HostView<const Rgb<std::uint8_t>> second,
                                                 std::span<const Keypoint> first_points,
                                                 std::span<const Keypoint> second_points,
                                                 std::span<const Match> matches,
                                                 const DrawOptions& options = {});

}  // namespace cornea
