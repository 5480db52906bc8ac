// SPDX-License-Identifier: Apache-2.0
// Known changes of an image, under which a detector should find the same points.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "study/evaluate/measures.h"

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/scene/degrade.h"

namespace cornea::evaluate {

// Points nearer to the border of the original than this do not count, because the surroundings
// beyond the border differ.
inline constexpr int kMargin = 16;  // pixels

struct Transform {
  std::string kind = {}, level = {};  // "rotation", "-30"
  double a = 1, b = 0, c = 0, d = 1;  // x' = a x + b y, y' = c x + d y, about the centre
  Degradation harm = {};              // blur, noise or JPEG, which move no point

  std::string ending() const { return "_" + kind + "_" + level; }
};

// The kinds in the order of the tables.
const std::vector<std::string>& transform_kinds();
// A few levels of each kind, or many.
std::vector<Transform> transforms(bool fine);

struct Transformed {
  Image<std::uint8_t> image = {};
  Matrix from_original{};         // x ~ M x_original
  Image<std::uint8_t> mask = {};  // 0 outside of the original, and within kMargin of its border
};

// The canvas contains the whole original.
Transformed transformed(const Context& context, HostView<const std::uint8_t> image,
                        const Transform& how);
// The original itself, with its mask.
Transformed untransformed(HostView<const std::uint8_t> image);

}  // namespace cornea::evaluate
