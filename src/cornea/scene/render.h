// SPDX-License-Identifier: Apache-2.0
// Views of a world by ray casting, and cameras to take them with.
//
// The points of a face and their pixels are related by a homography, so that one 3 x 3 product
// intersects a ray with the face:
//   (a, b, 1) / depth = P^-1 (x, y, 1),   P = K [R u, R v, R origin + t].
// A pixel is the mean of samples x samples rays over its square. Light is ambient light plus
// sunlight outside of shadows, and reflection is Lambertian, so that a point has the same
// brightness in all views.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/scene/camera.h"
#include "cornea/scene/world.h"

namespace cornea::scene {

struct RenderOptions {
  int samples = 4;  // rays per pixel and axis

  void validate() const;  // throws invalid_argument
};

// Gray, 0..1. The result does not depend on the number of threads.
Image<float> render(const Context& context, const World& world, const Camera& camera,
                    const RenderOptions& options = {});

// Exact depth along the camera's z axis at the centre of every pixel; infinity for the sky.
Image<float> depth(const Context& context, const World& world, const Camera& camera);

struct PathOptions {
  int count = 2;                        // cameras
  double step_degrees = 6.0;            // between neighbours, seen from the world's centre
  double baseline = 0.0;                // metres between neighbours; if not 0 it replaces the step
  int width = 1280, height = 960;       // pixels
  double field_of_view_degrees = 60.0;  // across the image's width
  double focal_px = 0.0;                // if not 0 it replaces the field of view
  // Deviation of the cameras from the arc, as a share of the viewing distance.
  double jitter = 0.02;
  std::uint64_t seed = 1;

  void validate() const;  // throws invalid_argument
};

// Cameras from left to right on an arc around the world's centre, at which they look.
std::vector<Camera> camera_path(const World& world, const PathOptions& options);

}  // namespace cornea::scene
