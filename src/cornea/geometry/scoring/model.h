// SPDX-License-Identifier: Apache-2.0
// A model in normalised coordinates with its score.
#pragma once

#include "cornea/geometry/algebra/matrix3.h"
#include "cornea/geometry/scoring/cost.h"

namespace cornea::geometry {

struct Model {
  Matrix3<double> f{};
  Score score;
};

}  // namespace cornea::geometry
