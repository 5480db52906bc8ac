// SPDX-License-Identifier: Apache-2.0
// Focal lengths from F alone, principal points known (S. Bougnoux, "From projective to Euclidean
// space under any practical situation, a criticism of self-calibration", ICCV 1998). On the host.
// Where the optical axes meet, as when both cameras look at one point, F says nothing about them.
#pragma once

#include <optional>

#include "cornea/geometry/algebra/matrix3.h"

namespace cornea::geometry {

struct FocalLengths {
  double first, second;
};

// F in pixels: x2^T F x1 = 0. None where a square would be negative: F does not belong to such
// cameras.
std::optional<FocalLengths> focal_lengths(const Matrix3<double>& f, double cx1, double cy1,
                                          double cx2, double cy2);

}  // namespace cornea::geometry
