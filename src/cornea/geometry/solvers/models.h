// SPDX-License-Identifier: Apache-2.0
// The models that a minimal solver computes from a sample.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/matrix3.h"

namespace cornea::geometry {

template <int most>
struct Models {
  Matrix3<float> m[most];
  int count = 0;
  bool fixed = false;  // whether there are solutions, including those with points behind a camera
};

}  // namespace cornea::geometry
