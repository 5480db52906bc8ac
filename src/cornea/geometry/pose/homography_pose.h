// SPDX-License-Identifier: Apache-2.0
// The pose between two calibrated views of a plane from H = K2^-1 H' K1, which maps rays to rays: H
// ~ R + t n^T / d, where the plane is n^T X1 = d (Y. Ma, S. Soatto, J. Kosecka, S. Sastry, "An
// Invitation to 3-D Vision", Springer 2004, section 5.3). CPU only.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cornea/geometry/pose/pose.h"

namespace cornea::geometry {

struct PlanePose {
  Matrix3<double> rotation;
  // In units of d, the plane's distance from the first camera; 0 if the camera only rotated.
  Vector3<double> translation;
  Vector3<double> normal;  // of length 1; 0 if the camera only rotated
  int in_front = 0;        // points in front of both cameras, as choose_plane_pose counts them
};

// Up to 4 poses: two planes, each with both signs of t and n. A single pose with t = n = 0 if H is
// a rotation: H^T H differs from the identity by less than COLMAP's 1e-3. None if the
// determinant, with the middle singular value scaled to 1, is at most 1e-7: the plane is edge-on.
std::vector<PlanePose> decompose_homography(const Matrix3<double>& h);

// Chooses by cheirality: the pose with most points in front of both cameras and, on a tie, with
// most points on the plane's visible side. Two planes can remain with all points in front of both
// cameras; the one whose normal is closer to the first camera's axis is then taken, because a plane
// is more likely to be seen from the front. Empty if H has no decomposition.
std::optional<PlanePose> choose_plane_pose(const Matrix3<double>& h,
                                           std::span<const PointPair> inliers);

}  // namespace cornea::geometry
