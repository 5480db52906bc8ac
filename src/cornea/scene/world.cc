// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/world.h"

#include <cmath>

#include <Eigen/Geometry>

#include "cornea/core/random.h"

namespace cornea::scene {
namespace {

using namespace core;

using Eigen::Vector3d;

std::uint64_t fresh_seed(Random& random) {
  const std::uint64_t high = random.bits();
  return (high << 32) | random.bits();
}

Texture fresh(Random& random, Pattern pattern, double cell, double dark, double light) {
  return {
      .pattern = pattern, .seed = fresh_seed(random), .cell = cell, .dark = dark, .light = light};
}

// One texture per side, with different seeds, and one for the lid.
std::array<Texture, 5> sides(Random& random, const Texture& side, const Texture& lid) {
  std::array<Texture, 5> all = {side, side, side, side, lid};
  for (Texture& texture : all) texture.seed = fresh_seed(random);
  return all;
}

// The surfaces of the boxes; consecutive kinds look different from each other.
std::array<Texture, 5> box_surface(Random& random, int kind) {
  const Texture carton = fresh(random, Pattern::plain, 0.2, 0.30, 0.80);
  switch (kind % 6) {
    case 0: {
      const Texture wood = fresh(random, Pattern::crate, 0.2, 0.06, 0.92);
      return sides(random, wood, wood);
    }
    case 1:
      return sides(random, fresh(random, Pattern::poster, 0.2, 0.03, 0.97), carton);
    case 2: {
      const Texture mosaic = fresh(random, Pattern::blocks, 0.2, 0.04, 0.98);
      return sides(random, mosaic, mosaic);
    }
    case 3:
      return sides(random, fresh(random, Pattern::page, 0.2, 0.05, 0.95), carton);
    case 4: {
      const Texture tiled = fresh(random, Pattern::slabs, 0.24, 0.10, 1.0);
      return sides(random, tiled, tiled);
    }
    default: {
      const Texture dark_wood = fresh(random, Pattern::crate, 0.2, 0.0, 0.62);
      return sides(random, dark_wood, dark_wood);
    }
  }
}

void add_ground(World& world, Random& random) {
  Texture paving = fresh(random, Pattern::slabs, 0.62, 0.08, 0.82);
  paving.width = paving.height = 120.0;
  world.faces.push_back(
      {Vector3d(-60.0, -60.0, 0.0), Vector3d::UnitX(), Vector3d::UnitY(), paving, -1});
}

// A poster on the front of the last box, one centimetre in front of it.
void add_poster(World& world, Random& random, double left, double low, double width,
                double height) {
  const int box = static_cast<int>(world.boxes.size()) - 1;
  const Box& wall = world.boxes[static_cast<std::size_t>(box)];
  Texture texture = fresh(random, Pattern::poster, 0.2, 0.02, 0.98);
  texture.width = width;
  texture.height = height;
  world.faces.push_back({Vector3d(left, wall.y - 0.5 * wall.depth - 0.01, low), Vector3d::UnitX(),
                         Vector3d::UnitZ(), texture, box});
}

void add_walls(World& world, Random& random) {
  const Texture coping = fresh(random, Pattern::plain, 0.2, 0.35, 0.90);
  const Texture house = fresh(random, Pattern::windows, 1.75, 0.04, 0.88);
  const Texture pale_house = fresh(random, Pattern::windows, 1.60, 0.10, 1.0);
  world.add_box({.x = 7.6, .y = 3.4, .width = 4.4, .depth = 5.6, .height = 7.0},
                sides(random, house, coping));
  world.add_box({.x = -8.2, .y = 6.2, .width = 4.4, .depth = 5.0, .height = 6.4},
                sides(random, pale_house, coping));
  world.add_box({.x = 0.0, .y = 4.9, .base = 3.2, .width = 12.0, .depth = 0.44, .height = 0.16},
                sides(random, coping, coping));
  world.add_box({.x = 0.0, .y = 4.9, .width = 12.0, .depth = 0.30, .height = 3.2},
                sides(random, fresh(random, Pattern::bricks, 0.125, 0.05, 0.92), coping));
  const double drift = random.uniform(-0.25, 0.25);
  add_poster(world, random, -3.55 + drift, 0.95, 1.25, 1.75);
  add_poster(world, random, -1.15 + drift, 1.20, 1.20, 1.60);
  world.faces.back().texture.seed -=
      world.faces.back().texture.seed % 20;  // of poster(): the first headline
  add_poster(world, random, 1.35 + drift, 1.05, 1.30, 1.80);
}

struct Place {
  double x, y, size, height;
};

// Small boxes in front, large ones behind, with gaps between them.
constexpr std::array<Place, 11> kPlaces = {{{-3.3, 2.6, 1.35, 1.25},
                                            {-1.2, 3.2, 1.05, 0.85},
                                            {0.75, 2.9, 1.30, 1.45},
                                            {3.3, 2.5, 1.45, 1.15},
                                            {-2.1, 0.6, 1.00, 0.90},
                                            {0.05, 1.05, 0.80, 0.62},
                                            {2.0, 0.7, 1.05, 1.05},
                                            {-0.95, -0.75, 0.62, 0.50},
                                            {0.95, -0.85, 0.66, 0.68},
                                            {-3.6, -0.4, 0.70, 0.72},
                                            {3.45, -0.3, 0.68, 0.55}}};

void add_boxes(World& world, Random& random) {
  int kind = random.integer(0, 5);
  for (std::size_t i = 0; i < kPlaces.size(); ++i, kind += 1) {
    const Place& place = kPlaces[i];
    Box box{.x = place.x + random.uniform(-0.18, 0.18), .y = place.y + random.uniform(-0.18, 0.18)};
    box.width = place.size * random.uniform(0.92, 1.08);
    box.depth = place.size * random.uniform(0.85, 1.05);
    box.height = place.height * random.uniform(0.92, 1.08);
    box.yaw = random.uniform(-0.60, 0.60);
    world.add_box(box, box_surface(random, kind));
    if (i % 3 != 0 || i >= 9) continue;
    Box upper = box;  // a smaller one on top
    upper.base = box.height;
    upper.width = 0.58 * box.width;
    upper.depth = 0.58 * box.depth;
    upper.height = 0.50 * box.height;
    upper.yaw = box.yaw + random.uniform(0.3, 0.8);
    world.add_box(upper, box_surface(random, kind + 3));
  }
}

}  // namespace

Vector3d Face::normal() const { return u.cross(v); }

void World::add_box(const Box& box, const std::array<Texture, 5>& textures) {
  const int index = static_cast<int>(boxes.size());
  boxes.push_back(box);
  const Vector3d x(std::cos(box.yaw), std::sin(box.yaw), 0.0), y(-x.y(), x.x(), 0.0);
  const Vector3d z = Vector3d::UnitZ(), base(box.x, box.y, box.base);
  const Vector3d half_x = 0.5 * box.width * x, half_y = 0.5 * box.depth * y;
  const auto add = [&](const Vector3d& origin, const Vector3d& u, double width, const Vector3d& v,
                       double height, Texture texture) {
    texture.width = width;
    texture.height = height;
    faces.push_back({origin, u, v, texture, index});
  };
  add(base - half_x - half_y, x, box.width, z, box.height, textures[0]);
  add(base + half_x - half_y, y, box.depth, z, box.height, textures[1]);
  add(base + half_x + half_y, -x, box.width, z, box.height, textures[2]);
  add(base - half_x + half_y, -y, box.depth, z, box.height, textures[3]);
  add(base - half_x - half_y + box.height * z, x, box.width, y, box.depth, textures[4]);
}

World planar_world(std::uint64_t seed) {
  Random random(seed, 1);
  World world;
  Texture mural = fresh(random, Pattern::collage, 1.5, 0.04, 0.98);
  mural.width = 90.0;
  mural.height = 60.0;
  world.faces.push_back(
      {Vector3d(-45.0, 0.0, -30.0), Vector3d::UnitX(), Vector3d::UnitZ(), mural, -1});
  world.plane = Plane{-Vector3d::UnitY(), 0.0};
  world.viewing_distance = 7.0;
  world.viewing_elevation = 8.0;
  return world;
}

World street_world(std::uint64_t seed) {
  Random random(seed, 2);
  World world;
  add_ground(world, random);
  add_walls(world, random);
  add_boxes(world, random);
  world.centre = Vector3d(0.0, 1.5, 1.10);
  world.viewing_distance = 7.8;
  world.viewing_elevation = 12.0;
  return world;
}

}  // namespace cornea::scene
