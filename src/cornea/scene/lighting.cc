// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/lighting.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>

namespace cornea::scene {

using Eigen::Vector3d;

Vector3d Lighting::Occluder::inward(const Vector3d& v) const {
  return {cosine * v.x() + sine * v.y(), -sine * v.x() + cosine * v.y(), v.z()};
}

// The slab test: the ray to the sun hits the box if its intervals inside the three pairs of
// parallel planes overlap in front of the point.
bool Lighting::Occluder::blocks_sun(const Vector3d& point) const {
  const Vector3d p = inward(point - middle);
  double enter = 1e-6, leave = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < 3; ++axis) {
    if (std::abs(to_sun[axis]) < 1e-12) {
      if (std::abs(p[axis]) > half[axis]) return false;
      continue;
    }
    const double a = (-half[axis] - p[axis]) / to_sun[axis];
    const double b = (half[axis] - p[axis]) / to_sun[axis];
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  }
  return enter < leave;
}

double Lighting::Occluder::distance_on_ground(const Vector3d& point) const {
  const Vector3d p = inward(point - middle).cwiseAbs() - half;
  return std::hypot(std::max(p.x(), 0.0), std::max(p.y(), 0.0));
}

Lighting::Lighting(const World& world) : to_sun_(world.to_sun.normalized()) {
  for (const Box& box : world.boxes) {
    Occluder o{.middle = Vector3d(box.x, box.y, box.base + 0.5 * box.height),
               .half = 0.5 * Vector3d(box.width, box.depth, box.height),
               .to_sun = to_sun_,
               .cosine = std::cos(box.yaw),
               .sine = std::sin(box.yaw)};
    o.to_sun = o.inward(to_sun_);
    occluders_.push_back(o);
  }
  for (const Face& face : world.faces) {
    LitFace lit{.origin = face.origin, .u = face.u, .v = face.v};
    const double up = face.normal().z(), towards_sun = face.normal().dot(to_sun_);
    lit.ground = face.box < 0 && up > 0.99;
    lit.sky = world.ambient * (0.75 + 0.25 * up);
    lit.sun = world.sun * std::max(towards_sun, 0.0);
    if (towards_sun > 0.0) find_shadows(face, lit);
    faces_.push_back(std::move(lit));
  }
}

// Projects the part of each box that lies in front of the face onto the face's plane, along the
// sun's rays.
void Lighting::find_shadows(const Face& face, LitFace& lit) const {
  const Vector3d normal = face.normal();
  for (std::size_t box = 0; box < occluders_.size(); ++box) {
    if (static_cast<int>(box) == face.box) continue;
    const Occluder& o = occluders_[box];
    const Vector3d x(o.cosine, o.sine, 0.0), y(-o.sine, o.cosine, 0.0);
    std::array<Vector3d, 8> corners;
    for (int c = 0; c < 8; ++c) {
      corners[c] = o.middle + (c & 1 ? 1 : -1) * o.half.x() * x +
                   (c & 2 ? 1 : -1) * o.half.y() * y +
                   (c & 4 ? 1 : -1) * o.half.z() * Vector3d::UnitZ() - face.origin;
    }
    const double inf = std::numeric_limits<double>::infinity();
    Shadow shadow{static_cast<int>(box), inf, inf, -inf, -inf};
    const auto cast = [&](const Vector3d& p) {
      const Vector3d hit = p - to_sun_ * (normal.dot(p) / normal.dot(to_sun_));
      shadow.low_a = std::min(shadow.low_a, hit.dot(face.u));
      shadow.low_b = std::min(shadow.low_b, hit.dot(face.v));
      shadow.high_a = std::max(shadow.high_a, hit.dot(face.u));
      shadow.high_b = std::max(shadow.high_b, hit.dot(face.v));
    };
    for (int c = 0; c < 8; ++c) {
      const double height = normal.dot(corners[c]);
      if (height >= 0.0) cast(corners[c]);
      for (int axis : {1, 2, 4}) {  // edges that intersect the plane
        const double other = normal.dot(corners[c ^ axis]);
        if (height > 0.0 && other < 0.0) {
          cast(corners[c] + (corners[c ^ axis] - corners[c]) * (height / (height - other)));
        }
      }
    }
    const bool on_face = shadow.low_a <= face.texture.width && shadow.high_a >= 0.0 &&
                         shadow.low_b <= face.texture.height && shadow.high_b >= 0.0;
    if (on_face) lit.shadows.push_back(shadow);
  }
}

// Approximates the fraction of the sky that is visible: less at the foot of a wall and on the
// ground beside a box.
double Lighting::openness(const LitFace& face, const Vector3d& point) const {
  if (!face.ground) return 1.0 - 0.35 * std::exp(-std::max(point.z(), 0.0) / 0.30);
  double open = 1.0;
  for (const Occluder& o : occluders_) {
    if (o.middle.z() - o.half.z() > 0.01) continue;
    const double reach = 0.35 * std::min(2.0 * o.half.z(), 1.5),
                 distance = o.distance_on_ground(point);
    if (distance < 5.0 * reach) open *= 1.0 - 0.55 * std::exp(-distance / reach);
  }
  return open;
}

double Lighting::at(int face_index, double a, double b) const {
  const LitFace& face = faces_[static_cast<std::size_t>(face_index)];
  const Vector3d point = face.origin + a * face.u + b * face.v;
  const bool shaded =
      std::any_of(face.shadows.begin(), face.shadows.end(), [&](const Shadow& shadow) {
        return shadow.holds(a, b) &&
               occluders_[static_cast<std::size_t>(shadow.box)].blocks_sun(point);
      });
  return face.sky * openness(face, point) + (shaded ? 0.0 : face.sun);
}

}  // namespace cornea::scene
