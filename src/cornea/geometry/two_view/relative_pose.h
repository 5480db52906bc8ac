// SPDX-License-Identifier: Apache-2.0
// What the pose between two views says: its rotation as an angle and an axis, its epipoles, and F
// of it in pixels.
#pragma once

#include <array>
#include <optional>

#include "cornea/core/export.h"
#include "cornea/geometry/two_view/essential.h"

namespace cornea {

struct Rotation {
  double degrees = 0;               // 0 to 180
  std::array<double, 3> axis = {};  // of length 1; 0, 0, 0 where there is no rotation
};
// Right-handed: R rotates the points' coordinates by that angle about the axis, the camera itself
// rotated by as much the other way.
CORNEA_API Rotation rotation_of(const std::array<double, 9>& R);

// K2^-T E K1^-1 of norm 1, its largest entry positive: x2^T F x1 = 0 in undistorted pixels, which
// are the pixels themselves where the cameras have no distortion; 0 where E is 0.
CORNEA_API std::array<double, 9> fundamental_of(const std::array<double, 9>& E,
                                                const IntrinsicsPair& cameras);

// The pixel of an image at which the other camera stands, F e1 = 0 and F^T e2 = 0; none where it
// lies at infinity (more than a million pixels away), or where there is no F.
struct Epipoles {
  std::optional<std::array<double, 2>> first = {}, second = {};
};
CORNEA_API Epipoles epipoles_of(const std::array<double, 9>& F);

// The pixel that a distorted one is without its distortion; none where the distortion has no
// inverse there.
CORNEA_API std::optional<std::array<double, 2>> undistorted(const Intrinsics& camera, double u,
                                                            double v);
// The same of a match, both of its points.
CORNEA_API std::optional<Correspondence> undistorted(const IntrinsicsPair& cameras,
                                                     const Correspondence& match);

}  // namespace cornea
