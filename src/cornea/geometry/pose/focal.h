// SPDX-License-Identifier: Apache-2.0
// Focal lengths from F alone, with known principal points (S. Bougnoux, "From projective to
// Euclidean space under any practical situation, a criticism of self-calibration", ICCV 1998). CPU
// only. If the optical axes meet, for example when both cameras look at one point, F does not
// determine the focal lengths.
#pragma once

#include <optional>

#include "cornea/geometry/algebra/matrix3.h"

namespace cornea::geometry {

struct FocalLengths {
  double first, second;
};

// F in pixels: x2^T F x1 = 0. Empty if a squared focal length would be negative: such an F does not
// belong to cameras with these principal points.
std::optional<FocalLengths> focal_lengths(const Matrix3<double>& f, double cx1, double cy1,
                                          double cx2, double cy2);

}  // namespace cornea::geometry
