// SPDX-License-Identifier: Apache-2.0
// Quantities derived from the pose between two views: its rotation as an angle and an axis, its
// epipoles, and its F in pixels.
#pragma once

#include <array>
#include <optional>

#include "cornea/core/export.h"
#include "cornea/geometry/two_view/essential.h"

namespace cornea {

struct Rotation {
  double degrees = 0;               // 0 to 180
  std::array<double, 3> axis = {};  // of length 1; 0, 0, 0 if there is no rotation
};
// Right-handed: R rotates the points' coordinates by this angle about the axis; the camera itself
// rotates by the same angle in the opposite direction.
CORNEA_API Rotation rotation_of(const std::array<double, 9>& R);

// K2^-T E K1^-1 of norm 1, its largest entry positive: x2^T F x1 = 0 in undistorted pixels, which
// equal the pixels if the cameras have no distortion; 0 if E is 0.
CORNEA_API std::array<double, 9> fundamental_of(const std::array<double, 9>& E,
                                                const IntrinsicsPair& cameras);

// The epipoles: the pixel of each image where the other camera is, F e1 = 0 and F^T e2 = 0; empty
// if it is at infinity (more than a million pixels away) or if there is no F.
struct Epipoles {
  std::optional<std::array<double, 2>> first = {}, second = {};
};
CORNEA_API Epipoles epipoles_of(const std::array<double, 9>& F);

// The undistorted position of a pixel, in pixels; empty if the distortion has no inverse there.
CORNEA_API std::optional<std::array<double, 2>> undistorted(const Intrinsics& camera, double u,
                                                            double v);
// The same for both points of a match.
CORNEA_API std::optional<Correspondence> undistorted(const IntrinsicsPair& cameras,
                                                     const Correspondence& match);

}  // namespace cornea
