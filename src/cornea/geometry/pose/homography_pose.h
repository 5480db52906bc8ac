// SPDX-License-Identifier: Apache-2.0
// The pose between two calibrated views of a plane from H = K2^-1 H' K1, which takes rays to rays:
// H ~ R + t n^T / d, where the plane is n^T X1 = d (E. Malis, M. Vargas, "Deeper understanding of
// the homography decomposition for vision-based control", INRIA RR-6303, 2007). On the host.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cornea/geometry/pose/pose.h"

namespace cornea::geometry {

struct PlanePose {
  Matrix3<double> rotation;
  // In units of d, the plane's distance from the first camera; 0 where the camera only rotated.
  Vector3<double> translation;
  Vector3<double> normal;  // of length 1; 0 where the camera only rotated
  int before = 0;          // points before both cameras, as choose_plane_pose counts them
};

// Up to 4: two planes, each with both signs of t and n. One, with t = n = 0, where H is a rotation:
// H^T H differs from the identity by less than COLMAP's 1e-3. None of an H that is singular.
std::vector<PlanePose> decompose_homography(const Matrix3<double>& h);

// Of these the one with most of the points before both cameras, and, of those with equally many,
// on the plane's visible side. Two planes can remain with all points before both cameras; of them
// the one with the normal nearer to the first camera's axis is taken, as a plane seen from its
// front is seen better. None where there is none.
std::optional<PlanePose> choose_plane_pose(const Matrix3<double>& h,
                                           std::span<const PointPair> inliers);

}  // namespace cornea::geometry
