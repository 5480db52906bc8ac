// SPDX-License-Identifier: Apache-2.0
// Helpers shared by tests of rendered pictures.
#pragma once

#include <cmath>
#include <cstring>

#include <Eigen/Core>

#include "cornea/core/image.h"

namespace cornea::testing {

inline bool same_bytes(const Image<float>& a, const Image<float>& b) {
  return a.width() == b.width() && a.height() == b.height() &&
         std::memcmp(a.host().data, b.host().data, sizeof(float) * a.width() * a.height()) == 0;
}

inline double bilinear(const Image<float>& image, const Eigen::Vector2d& at) {
  const int x = static_cast<int>(std::floor(at.x())), y = static_cast<int>(std::floor(at.y()));
  const double fx = at.x() - x, fy = at.y() - y;
  return (1 - fy) * ((1 - fx) * image(x, y) + fx * image(x + 1, y)) +
         fy * ((1 - fx) * image(x, y + 1) + fx * image(x + 1, y + 1));
}

}  // namespace cornea::testing
