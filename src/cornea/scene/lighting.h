// SPDX-License-Identifier: Apache-2.0
// The brightness of a white face at one of its points: sky light, reduced near the ground and near
// boxes, and sunlight where no box blocks it.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "cornea/scene/world.h"

namespace cornea::scene {

class Lighting {
 public:
  explicit Lighting(const World& world);
  // At (a, b) metres on the face with that index.
  double at(int face, double a, double b) const;

 private:
  // A box in its own frame: centre at the origin, sides along the axes.
  struct Occluder {
    Eigen::Vector3d middle, half, to_sun;
    double cosine, sine;
    Eigen::Vector3d inward(const Eigen::Vector3d& v) const;
    bool blocks_sun(const Eigen::Vector3d& point) const;
    double distance_on_ground(const Eigen::Vector3d& point) const;
  };
  // The part of a face, as a rectangle in its own coordinates, where a box may cast a shadow.
  struct Shadow {
    int box;
    double low_a = 0.0, low_b = 0.0, high_a = 0.0, high_b = 0.0;
    bool holds(double a, double b) const {
      return a >= low_a && a <= high_a && b >= low_b && b <= high_b;
    }
  };
  struct LitFace {
    Eigen::Vector3d origin, u, v;
    bool ground = false;
    double sky = 0.0, sun = 0.0;
    std::vector<Shadow> shadows{};  // empty if the sun is behind the face
  };

  void find_shadows(const Face& face, LitFace& lit) const;
  double openness(const LitFace& face, const Eigen::Vector3d& point) const;

  Eigen::Vector3d to_sun_;
  std::vector<Occluder> occluders_;
  std::vector<LitFace> faces_;
};

}  // namespace cornea::scene
