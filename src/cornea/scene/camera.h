// SPDX-License-Identifier: Apache-2.0
// The pinhole camera and the exact geometry between two of them (Hartley & Zisserman, Multiple View
// Geometry, ch. 6, 9 and 13).
//
// World: x right, y away from the viewer, z up, in metres. Camera: x right, y down, z forward.
// Pixels: x right, y down, the centre of the first pixel is (0, 0).
#pragma once

#include <Eigen/Core>

#include "cornea/core/export.h"

namespace cornea {

// The points X with normal . X = offset; the normal has length 1.
struct Plane {
  Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();
  double offset = 0.0;
};

struct CORNEA_API Camera {
  int width = 0, height = 0;                        // pixels
  Eigen::Matrix3d K = Eigen::Matrix3d::Identity();  // pixel ~ K x_cam
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();  // x_cam = R x_world + t
  Eigen::Vector3d t = Eigen::Vector3d::Zero();

  // The pixel at which a point of the world appears; valid if depth(world) > 0.
  Eigen::Vector2d project(const Eigen::Vector3d& world) const;
  // The depth of the point: its coordinate along the camera's z axis.
  double depth(const Eigen::Vector3d& world) const;
  // The world direction of a pixel's ray, with a component of 1 along the camera's z axis: the
  // point at depth d is centre() + d ray(x, y).
  Eigen::Vector3d ray(double x, double y) const;
  Eigen::Vector3d centre() const;
};

// A camera at `eye` that has `target` in the middle of its image and the world's z axis upwards,
// rotated by `roll` radians about its optical axis. Pixels are square; the focal length is focal_px
// pixels.
CORNEA_API Camera look_at(const Eigen::Vector3d& eye, const Eigen::Vector3d& target, int width,
                          int height, double focal_px, double roll = 0.0);

// F with x_b^T F x_a = 0 for the images x_a, x_b of any point; Frobenius norm 1. Throws
// invalid_argument if the cameras have the same centre, because there is no fundamental matrix.
CORNEA_API Eigen::Matrix3d fundamental(const Camera& a, const Camera& b);

// H with x_b ~ H x_a for the images of a point of the plane; Frobenius norm 1. Throws
// invalid_argument if the first camera lies in the plane.
CORNEA_API Eigen::Matrix3d plane_homography(const Camera& a, const Camera& b, const Plane& plane);

// The camera whose image is that of `camera` transformed by x' ~ M x, where M is a similarity or an
// affinity that preserves orientation: K' R' = M K R, so that the geometry of transformed views
// stays exact.
CORNEA_API Camera moved_camera(const Camera& camera, const Eigen::Matrix3d& M, int width,
                               int height);

// x' ~ M x for points that are not at infinity.
CORNEA_API Eigen::Vector2d transform(const Eigen::Matrix3d& M, const Eigen::Vector2d& x);

}  // namespace cornea
