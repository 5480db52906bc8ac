// SPDX-License-Identifier: Apache-2.0
// The intrinsics of a camera: the relation between pixels and viewing rays.
//
// A point (X, Y, Z) in camera coordinates has the undistorted position x = X / Z, y = Y / Z. With
// r^2 = x^2 + y^2, its pixel is
//   u = fx (x (1 + k1 r^2 + k2 r^4) + 2 p1 x y + p2 (r^2 + 2 x^2)) + cx
//   v = fy (y (1 + k1 r^2 + k2 r^4) + p1 (r^2 + 2 y^2) + 2 p2 x y) + cy
// with the centre of the first pixel at (0, 0). This is COLMAP's OPENCV model; SIMPLE_PINHOLE,
// PINHOLE, SIMPLE_RADIAL and RADIAL are the special cases in which some parameters are 0 or equal.
#pragma once

#include <array>
#include <optional>

#include "cornea/core/export.h"

namespace cornea {

struct CORNEA_API Intrinsics {
  double fx = 0, fy = 0, cx = 0, cy = 0;  // pixels
  double k1 = 0, k2 = 0;                  // radial distortion
  double p1 = 0, p2 = 0;                  // tangential distortion

  // Throws unless all numbers are finite and the focal lengths are positive.
  void validate() const;
  double mean_focal() const { return fx / 2 + fy / 2; }
  bool is_distorted() const { return k1 != 0 || k2 != 0 || p1 != 0 || p2 != 0; }

  // The pixel of an undistorted position.
  std::array<double, 2> pixel(double x, double y) const;
  // The undistorted position of a pixel, such that pixel() maps it back to within 1e-9 pixels;
  // empty if the distortion has no inverse there.
  std::optional<std::array<double, 2>> place(double u, double v) const;
  friend bool operator==(const Intrinsics&, const Intrinsics&) = default;
};

}  // namespace cornea
