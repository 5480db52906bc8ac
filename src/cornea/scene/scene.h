// SPDX-License-Identifier: Apache-2.0
// Synthetic views with exact ground truth, in one call: cameras on an arc around a world, their
// pictures, and optional degradations of the pictures. Between views i and j,
// fundamental(views[i].camera, views[j].camera) is exact; on a flat scene so is
// plane_homography(..., *scene_plane(options)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/image.h"
#include "cornea/scene/camera.h"
#include "cornea/scene/degrade.h"

namespace cornea {

enum class SceneKind {
  checkerboard,  // a flat board with known corners
  plane,         // a flat mural with thousands of corners
  boxes          // boxes on a street, depth from 4 to 12 m
};

CORNEA_API std::string_view name(SceneKind kind);
// "checkerboard", "plane" or "boxes"; any other name is an error that lists these.
CORNEA_API SceneKind scene_kind(std::string_view name);

struct CORNEA_API SceneOptions {
  SceneKind kind = SceneKind::boxes;
  int views = 2;
  int width = 1280, height = 960;       // pixels, before a scale in the degradation
  std::uint64_t seed = 1;               // of the world, the cameras' jitter and the noise
  double step_degrees = 6.0;            // between neighbouring views, seen from the world's centre
  double baseline = 0.0;                // metres between neighbours; if not 0 it replaces the step
  double field_of_view_degrees = 60.0;  // across the image's width
  double focal_px = 0.0;                // if not 0 it replaces the field of view
  double jitter = 0.02;                 // share of the viewing distance
  int samples = 4;                      // rays per pixel and axis
  int board_columns = 10, board_rows = 7;  // cells, for the checkerboard
  // Blur, contrast, brightness, noise and compression change every view, with different noise for
  // each. Rotation and scale change all views but the first, so that they are differences between
  // the views of a pair.
  Degradation degradation = {};

  void validate() const;  // throws invalid_argument
};

struct View {
  std::string name = {};                      // "view_000", "view_001", ...
  Image<float> image = {};                    // 0..1
  Camera camera = {};                         // of the picture after its degradation
  std::vector<Eigen::Vector2d> corners = {};  // checkerboard: exact inner corners, row by row
};

CORNEA_API std::vector<View> make_views(const Context& context, const SceneOptions& options);
// A single view, numbered from 0: for scenes with more views than fit in memory.
CORNEA_API View make_view(const Context& context, const SceneOptions& options, int index);

// The cameras alone, without rendering.
CORNEA_API std::vector<Camera> scene_cameras(const SceneOptions& options);

// The plane that contains the whole scene; none for boxes.
CORNEA_API std::optional<Plane> scene_plane(const SceneOptions& options);

}  // namespace cornea
