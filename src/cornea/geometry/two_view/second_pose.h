// SPDX-License-Identifier: Apache-2.0
// Points on a plane allow two poses (H. C. Longuet-Higgins, "The reconstruction of a plane surface
// from two perspective projections", Proc. R. Soc. London B 227, 1986), and noise decides which of
// them E is. This finds the other one. CPU only.
#pragma once

#include <span>

#include "cornea/core/features.h"
#include "cornea/geometry/points.h"
#include "cornea/geometry/pose/pose.h"

namespace cornea::geometry {

// Whether at least 90% of the inliers of `pose` lie on one plane (judged by at most 64 of them),
// and the other pose that such a plane allows, refined, has more than three quarters of these
// inliers in front of both cameras (judged by at most 256 of them) and explains, within `width`
// (the noise in pixels), at least 90% as many of all matches as `pose`, less 3. Inliers are on the
// plane within `limit`, in the second camera's coordinates. Two poses that are nearly the same
// count as one.
bool has_second_pose(const Pose& pose, std::span<const PointPair> inliers,
                     std::span<const Correspondence> matches, const Normalisation& normalisation,
                     double limit, double width);

}  // namespace cornea::geometry
