// SPDX-License-Identifier: Apache-2.0
// A checkerboard whose corners are known exactly.
//
// Board coordinates (u, v) count cells from the board's top left; the inner corners are the points
// u = 1 .. columns - 1, v = 1 .. rows - 1. A pixel's value is the mean over its square: exact for
// pixels inside one cell, and estimated from samples x samples points for pixels on an edge.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/image.h"

namespace cornea {

struct CORNEA_API CheckerboardOptions {
  int width = 640, height = 480;  // of the image, in pixels
  int columns = 9, rows = 7;      // cells
  double cell = 48.0;             // side of a cell in pixels, before the homography
  // Transforms the board, which is initially upright in the middle of the image: x_image ~
  // homography x_upright, in pixels. See tilted_view().
  Eigen::Matrix3d homography = Eigen::Matrix3d::Identity();
  double light = 0.9, dark = 0.1, background = 0.9;  // gray, 0..1
  int samples = 16;                                  // per axis, for pixels that an edge crosses

  void validate() const;  // throws invalid_argument
};

struct Checkerboard {
  Image<float> image = {};
  // Inner corners in pixels, row by row, including those outside the image.
  std::vector<Eigen::Vector2d> corners = {};
};

CORNEA_API Checkerboard checkerboard(const Context& context, const CheckerboardOptions& options);

// The same for a board placed by x_image ~ image_from_board (u, v, 1); `cell` and `homography` are
// not used.
CORNEA_API Checkerboard checkerboard(const Context& context, const CheckerboardOptions& options,
                                     const Eigen::Matrix3d& image_from_board);

// The homography of an upright image of this size, seen by a camera with this focal length after a
// rotation by `rotate_degrees` in its plane and then tilts about the vertical and the horizontal
// axis through the image's centre, which is a fixed point.
CORNEA_API Eigen::Matrix3d tilted_view(int width, int height, double rotate_degrees,
                                       double tilt_vertical_axis_degrees,
                                       double tilt_horizontal_axis_degrees, double focal_px);

}  // namespace cornea
