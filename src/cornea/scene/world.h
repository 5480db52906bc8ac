// SPDX-License-Identifier: Apache-2.0
// The world that the synthetic cameras see: flat textured faces and the boxes that cast shadows, in
// metres, with the ground at z = 0 and z upwards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "cornea/scene/camera.h"
#include "cornea/scene/texture.h"

namespace cornea::scene {

// The points origin + a u + b v with 0 <= a <= texture.width and 0 <= b <= texture.height; u and v
// are perpendicular unit vectors. A face is visible only from the side of u x v.
struct Face {
  Eigen::Vector3d origin, u, v;
  Texture texture;
  int box = -1;  // the box that the face belongs to, which casts no shadow on it; -1 for none

  Eigen::Vector3d normal() const;
};

// An upright box, rotated by `yaw` radians about the vertical axis through its centre.
struct Box {
  double x = 0.0, y = 0.0, base = 0.0;            // the centre of its underside
  double width = 1.0, depth = 1.0, height = 1.0;  // along its own x, y and the vertical
  double yaw = 0.0;
};

struct World {
  std::vector<Face> faces;
  std::vector<Box> boxes;
  std::optional<Plane> plane;  // the plane that contains everything, if there is one

  Eigen::Vector3d to_sun = Eigen::Vector3d(-0.52, -0.55, 0.65);  // any length
  double sun = 1.05,
         ambient = 0.46;  // light that a white face reflects; sky light comes from above

  // Where camera paths look, and from what distance and elevation.
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  double viewing_distance = 8.0;    // metres
  double viewing_elevation = 12.0;  // degrees above the horizontal

  // Adds a box and its five visible faces: front (towards -y before the rotation), right, back,
  // left, top.
  void add_box(const Box& box, const std::array<Texture, 5>& textures);
};

// One upright wall of many panels, which fills the view of every camera on a path.
World planar_world(std::uint64_t seed);

// Boxes on paved ground in front of a brick wall with posters, between two houses. The seed moves
// and rotates the boxes and changes every surface.
World street_world(std::uint64_t seed);

}  // namespace cornea::scene
