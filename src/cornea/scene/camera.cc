// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/camera.h"

#include <cmath>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "cornea/core/error.h"

namespace cornea {
namespace {

Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& v) {
  Eigen::Matrix3d m;
  m << 0.0, -v.z(), v.y(), v.z(), 0.0, -v.x(), -v.y(), v.x(), 0.0;
  return m;
}

Eigen::Matrix3d about_z(double radians) {
  return Eigen::AngleAxisd(radians, Eigen::Vector3d::UnitZ()).toRotationMatrix();
}

// x_b = R x_a + t between the two cameras' frames.
struct RelativePose {
  RelativePose(const Camera& a, const Camera& b) : R(b.R * a.R.transpose()), t(b.t - R * a.t) {}
  Eigen::Matrix3d R;
  Eigen::Vector3d t;
};

}  // namespace

Eigen::Vector2d Camera::project(const Eigen::Vector3d& world) const {
  return (K * (R * world + t)).hnormalized();
}

double Camera::depth(const Eigen::Vector3d& world) const { return R.row(2).dot(world) + t.z(); }

Eigen::Vector3d Camera::ray(double x, double y) const {
  return R.transpose() * (K.inverse() * Eigen::Vector3d(x, y, 1.0));
}

Eigen::Vector3d Camera::centre() const { return -(R.transpose() * t); }

Camera look_at(const Eigen::Vector3d& eye, const Eigen::Vector3d& target, int width, int height,
               double focal_px, double roll) {
  const Eigen::Vector3d sight = target - eye;
  const Eigen::Vector3d side = sight.cross(Eigen::Vector3d::UnitZ());
  require(side.norm() > 1e-9 * sight.norm(),
          "a camera that looks straight up, straight down or nowhere has no upright image");
  const Eigen::Vector3d z = sight.normalized(), x = side.normalized(), y = z.cross(x);
  Camera camera{.width = width, .height = height};
  camera.K << focal_px, 0.0, (width - 1) / 2.0, 0.0, focal_px, (height - 1) / 2.0, 0.0, 0.0, 1.0;
  camera.R.row(0) = x;
  camera.R.row(1) = y;
  camera.R.row(2) = z;
  camera.R = about_z(roll) * camera.R;
  camera.t = -(camera.R * eye);
  return camera;
}

Eigen::Matrix3d fundamental(const Camera& a, const Camera& b) {
  const RelativePose pose(a, b);
  const double reach = 1.0 + a.centre().norm() + b.centre().norm();
  require(
      pose.t.norm() > 1e-12 * reach,
      "the two cameras have the same centre, so that no fundamental matrix relates their images");
  const Eigen::Matrix3d F =
      b.K.inverse().transpose() * cross_matrix(pose.t) * pose.R * a.K.inverse();
  return F / F.norm();
}

Eigen::Matrix3d plane_homography(const Camera& a, const Camera& b, const Plane& plane) {
  // In a's frame the plane is n . x = d, so that t = t (n . x) / d for its points.
  const RelativePose pose(a, b);
  const Eigen::Vector3d n = a.R * plane.normal;
  const double d = plane.offset + n.dot(a.t);
  require(std::abs(d) > 1e-12, "the first camera lies in the plane, which it sees edge on");
  const Eigen::Matrix3d H = b.K * (pose.R + pose.t * n.transpose() / d) * a.K.inverse();
  return H / H.norm();
}

Camera moved_camera(const Camera& camera, const Eigen::Matrix3d& M, int width, int height) {
  const Eigen::Matrix3d A = M * camera.K / M(2, 2);
  require(
      A.allFinite() && A(2, 0) == 0.0 && A(2, 1) == 0.0 &&
          A.topLeftCorner<2, 2>().determinant() > 0.0,
      "a camera can be moved by a similarity or an affinity that keeps orientation, not by this "
      "matrix");
  // A = K' Q, where K' is upper triangular and Q a rotation about the z axis: the first two entries
  // of A's second row are those of Q times K'(1, 1).
  const Eigen::Matrix3d Q = about_z(std::atan2(A(1, 0), A(1, 1)));
  Camera moved = camera;
  moved.width = width;
  moved.height = height;
  moved.K = A * Q.transpose();
  moved.K(1, 0) = 0.0;
  moved.R = Q * camera.R;
  moved.t = Q * camera.t;
  return moved;
}

Eigen::Vector2d transform(const Eigen::Matrix3d& M, const Eigen::Vector2d& x) {
  return (M * x.homogeneous()).hnormalized();
}

}  // namespace cornea
