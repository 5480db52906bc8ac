// SPDX-License-Identifier: Apache-2.0
// The pose between two calibrated views from E, shared by CPU and CUDA: its four candidates, the
// one with most inliers in front of both cameras (cheirality), and triangulation. A point X1 of the
// first camera is X2 = R X1 + t in the second; E = [t]x R.
#pragma once

#include <span>

#include "cornea/geometry/algebra/frame.h"
#include "cornea/geometry/scoring/sampson.h"

namespace cornea::geometry {

struct Pose {
  Matrix3<double> rotation;
  Vector3<double> translation;  // of length 1
};

// E = U diag(1, 1, 0) V^T for an E that need not be exact.
CORNEA_HD inline EpipolarFrame essential_frame(const Matrix3<double>& e) {
  EpipolarFrame frame = frame_of(e);
  // If the two singular values differ, the images of v0 and v1 are still orthogonal up to rounding,
  // which is removed here.
  const double along = dot(frame.u[0], frame.u[1]);
  frame.u[1] = unit(sum(frame.u[1], scaled(frame.u[0], -along)));
  frame.u[2] = cross(frame.u[0], frame.u[1]);
  frame.s = 1;
  return frame;
}

CORNEA_HD inline Matrix3<double> essential_of(const Pose& pose) {
  return cross_matrix(pose.translation) * pose.rotation;
}

// R = U W V^T or U W^T V^T, where W is a rotation by 90 degrees about the third axis; t = +-u2.
// Each R is combined with both signs of t.
CORNEA_HD inline void poses_of(const EpipolarFrame& frame, Pose (&poses)[4]) {
  const Vector3<double>*u = frame.u, *v = frame.v;
  auto outer = [](const Vector3<double>& a, const Vector3<double>& b, double sign,
                  Matrix3<double>& to) {
    const Vector3<double> c = scaled(a, sign);
    const double terms[9] = {c.x * b.x, c.x * b.y, c.x * b.z, c.y * b.x, c.y * b.y,
                             c.y * b.z, c.z * b.x, c.z * b.y, c.z * b.z};
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) to.v[i] += terms[i];
  };
  CORNEA_UNROLL
  for (int k = 0; k < 2; ++k) {
    const double sign = k == 0 ? 1 : -1;
    Matrix3<double> r{};
    outer(u[1], v[0], sign, r);
    outer(u[0], v[1], -sign, r);
    outer(u[2], v[2], 1, r);
    poses[2 * k] = {r, u[2]};
    poses[2 * k + 1] = {r, scaled(u[2], -1)};
  }
}

// Where the rays (x1, y1, 1) and (x2, y2, 1) are closest to each other. The signs of the depths are
// reliable if the rays are not parallel.
struct ScaledDepths {
  double first, second;  // the depths along the rays, each multiplied by cross2
  double cross2;         // squared length of the rays' cross product
};
CORNEA_HD inline ScaledDepths scaled_depths(const Pose& pose, const PointPair& p) {
  const Vector3<double> a = pose.rotation * Vector3<double>{p.x1, p.y1, 1}, b = {p.x2, p.y2, 1};
  const Vector3<double>& t = pose.translation;
  const double aa = dot(a, a), bb = dot(b, b), ab = dot(a, b), at = dot(a, t), bt = dot(b, t);
  const Vector3<double> c = cross(a, b);
  return {ab * bt - bb * at, aa * bt - ab * at, dot(c, c)};
}
CORNEA_HD inline bool is_in_front_of_both(const ScaledDepths& d) {
  return d.first > 0 && d.second > 0;
}

// Chooses among E's four poses by cheirality: the one with most inliers in front of both cameras.
// Ties keep the first. `in_front` becomes the number of these inliers.
template <class Team, class Inlier>
CORNEA_HD Pose choose_pose(Team& team, const Matrix3<double>& e, const Inlier& inlier,
                           double& in_front) {
  Pose poses[4];
  poses_of(essential_frame(e), poses);
  double votes[4];
  team.template sums<4>(votes, [&](const PointPair& p, double* terms) {
    if (!inlier(p)) return false;
    CORNEA_UNROLL
    for (int k = 0; k < 2; ++k) {
      const ScaledDepths d = scaled_depths(poses[2 * k], p);
      terms[2 * k] = d.first > 0 && d.second > 0;
      terms[2 * k + 1] = d.first < 0 && d.second < 0;
    }
    return true;
  });
  int best = 0;
  CORNEA_UNROLL
  for (int k = 1; k < 4; ++k) {
    if (votes[k] > votes[best]) best = k;
  }
  in_front = votes[best];
  return poses[best];
}

// --- Triangulation -----------------------------------------------------------------------------

// The nearest correspondence that satisfies E: Sampson's correction, applied twice, after which the
// remaining error is far below the noise of the points (K. Kanatani, Y. Sugaya, H. Niitsuma,
// "Triangulation from two views revisited", BMVC 2008). A pixel counts the same in both images.
CORNEA_HD inline PointPair corrected(const Matrix3<double>& e, const PointPair& p,
                                     const Scales& scales) {
  const double r = scales.first / scales.second, k = r * r;
  PointPair q = p;
  for (int iteration = 0; iteration < 2; ++iteration) {
    const auto [l2, l1, error_of_q, g] = sampson_terms(e, q, k);
    if (!(g > 0)) break;
    // The measured position is corrected, not the last corrected one, so the error along the shift
    // is added.
    const double error = error_of_q + (l2.x * (p.x2 - q.x2) + l2.y * (p.y2 - q.y2) +
                                       l1.x * (p.x1 - q.x1) + l1.y * (p.y1 - q.y1));
    const double share = error / g;
    q = {p.x1 - k * share * l1.x, p.y1 - k * share * l1.y, p.x2 - share * l2.x,
         p.y2 - share * l2.y};
  }
  return q;
}

// Triangulates a point in the first camera's coordinates, in units of the baseline. The rays of
// corrected positions meet, so that every method of intersecting them gives the same point, the one
// of least reprojection error; the midpoint of uncorrected rays is biased towards the cameras if
// the angle is small. False if the point lies behind a camera or the rays are parallel.
CORNEA_HD inline bool triangulate(const Pose& pose, const PointPair& p, const Scales& scales,
                                  Vector3<double>& point) {
  const PointPair q = corrected(essential_of(pose), p, scales);
  const ScaledDepths d = scaled_depths(pose, q);
  if (!is_in_front_of_both(d)) return false;
  const double depth = d.first / d.cross2;
  point = {q.x1 * depth, q.y1 * depth, depth};
  return depth - depth == 0;
}

// --- Pure rotation -----------------------------------------------------------------------------

// Whether x2 ~ R x1 without a translation: the sum of both transfer distances is below the
// threshold, in pixels.
struct RotationTest {
  Matrix3<double> rotation;
  double r, inverse;
  CORNEA_HD bool operator()(const PointPair& p) const {
    const Vector3<double> a = rotation * Vector3<double>{p.x1, p.y1, 1};
    const Vector3<double> b = transposed(rotation) * Vector3<double>{p.x2, p.y2, 1};
    if (!(a.z > 0 && b.z > 0)) return false;
    const double ax = a.x / a.z - p.x2, ay = a.y / a.z - p.y2;
    const double bx = b.x / b.z - p.x1, by = b.y / b.z - p.y1;
    const double d = sqrt(ax * ax + ay * ay) + r * sqrt(bx * bx + by * by);
    return d * d * inverse < 1;
  }
};
CORNEA_HD inline RotationTest rotation_test(const Matrix3<double>& rotation, const Scales& scales,
                                            double threshold) {
  const double t = threshold * scales.second;
  return {rotation, scales.second / scales.first, 1 / (t * t)};
}

// The number of inliers that the rotation alone explains.
template <class Team, class Inlier>
CORNEA_HD double count_rotated(Team& team, const RotationTest& rotated, const Inlier& inlier) {
  double counts[1];
  team.template sums<1>(counts, [&](const PointPair& p, double* terms) {
    terms[0] = 1;
    return inlier(p) && rotated(p);
  });
  return counts[0];
}

// --- CPU only ----------------------------------------------------------------------------------

// The angle between the two rays of a correspondence.
double angle_degrees(const Pose& pose, const PointPair& p);
// The median angle of the inliers in front of both cameras; 0 if there are none.
double median_angle_degrees(const Pose& pose, std::span<const PointPair> inliers);

}  // namespace cornea::geometry
