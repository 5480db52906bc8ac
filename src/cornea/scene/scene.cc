// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/scene.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "cornea/core/digits.h"
#include "cornea/core/error.h"
#include "cornea/core/random.h"
#include "cornea/scene/checkerboard.h"
#include "cornea/scene/render.h"
#include "cornea/scene/world.h"

namespace cornea {
namespace {

using namespace core;
using namespace scene;

constexpr std::array<std::string_view, 3> kKinds = {"checkerboard", "plane", "boxes"};
constexpr double kBoardWidth = 5.0;  // metres

PathOptions path_options(const SceneOptions& options) {
  return {.count = options.views,
          .step_degrees = options.step_degrees,
          .baseline = options.baseline,
          .width = options.width,
          .height = options.height,
          .field_of_view_degrees = options.field_of_view_degrees,
          .focal_px = options.focal_px,
          .jitter = options.jitter,
          .seed = options.seed};
}

CheckerboardOptions board_options(const SceneOptions& options) {
  return {.width = options.width,
          .height = options.height,
          .columns = options.board_columns,
          .rows = options.board_rows};
}

World scene_world(const SceneOptions& options) {
  if (options.kind == SceneKind::boxes) return street_world(options.seed);
  if (options.kind == SceneKind::plane) return planar_world(options.seed);
  World board;  // drawn by checkerboard(); only its position matters here
  board.plane = Plane{-Eigen::Vector3d::UnitY(), 0.0};
  board.viewing_distance = 7.0;
  board.viewing_elevation = 10.0;
  return board;
}

// The board stands upright in the plane y = 0, with its middle at the origin.
Eigen::Matrix3d image_from_board(const Camera& camera, int columns, int rows) {
  const double cell = kBoardWidth / std::max(columns, rows);
  const Eigen::Vector3d u(cell, 0.0, 0.0), v(0.0, 0.0, -cell);
  Eigen::Matrix3d place;
  place << camera.R * u, camera.R * v, camera.R * (-0.5 * columns * u - 0.5 * rows * v) + camera.t;
  return camera.K * place;
}

View take_picture(const Context& context, const SceneOptions& options, const World& world,
                  const Camera& camera) {
  if (options.kind != SceneKind::checkerboard) {
    return {{}, render(context, world, camera, {.samples = options.samples}), camera, {}};
  }
  Checkerboard board =
      checkerboard(context, board_options(options),
                   image_from_board(camera, options.board_columns, options.board_rows));
  return {{}, std::move(board.image), camera, std::move(board.corners)};
}

// The degradation of view i.
Degradation degradation_of(const SceneOptions& options, int i) {
  Degradation how = options.degradation;
  const Philox4 hash = philox(options.seed ^ how.seed, 4, static_cast<std::uint64_t>(i));
  how.seed = (std::uint64_t{hash.v[0]} << 32) | hash.v[1];
  if (i == 0) {
    how.rotate_degrees = 0.0;
    how.scale = 1.0;
  }
  return how;
}

void degrade_view(const Context& context, const Degradation& how, View& view) {
  Degraded degraded = degrade(context, std::as_const(view.image).host(), how);
  view.camera = degraded_camera(view.camera, how);
  view.image = std::move(degraded.image);
  for (Eigen::Vector2d& corner : view.corners) corner = transform(degraded.from_original, corner);
}

// With as many digits as the last view needs, so that names sort as views.
std::string view_name(int i, int views) {
  const std::size_t digits = std::max<std::size_t>(3, std::to_string(views - 1).size());
  return "view_" + core::zero_padded(std::uint64_t(i), digits);
}

}  // namespace

std::string_view name(SceneKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

SceneKind scene_kind(std::string_view name) {
  const auto found = std::find(kKinds.begin(), kKinds.end(), name);
  require(found != kKinds.end(), "there is no scene '", name,
          "'; there are checkerboard, plane and boxes");
  return static_cast<SceneKind>(found - kKinds.begin());
}

void SceneOptions::validate() const {
  constexpr int kMostViews = 10000, kMostCells = 1000;
  constexpr double kMostPixels = 1 << 28;
  require(views >= 1 && views <= kMostViews, "a scene has 1 view or more and at most ", kMostViews,
          ", not ", views);
  require(width > 0 && height > 0, "a view has at least 1 x 1 pixels, not ", width, " x ", height);
  degradation.validate();
  const double area = std::max(1.0, degradation.scale * degradation.scale);
  require(double(width) * height * area <= kMostPixels, "a view of ", width, " x ", height,
          " pixels at scale ", degradation.scale, " is too large; the limit is 2^28 pixels");
  require(board_columns <= kMostCells && board_rows <= kMostCells, "a board has at most ",
          kMostCells, " x ", kMostCells, " cells, not ", board_columns, " x ", board_rows);
  path_options(*this).validate();
  RenderOptions{.samples = samples}.validate();
  board_options(*this).validate();
}

View make_view(const Context& context, const SceneOptions& options, int index) {
  options.validate();
  require(index >= 0 && index < options.views, "view ", index, " of ", options.views,
          " was asked for; views are numbered from 0");
  const World world = scene_world(options);
  const std::vector<Camera> cameras = camera_path(world, path_options(options));
  View view = take_picture(context, options, world, cameras[static_cast<std::size_t>(index)]);
  view.name = view_name(index, options.views);
  degrade_view(context, degradation_of(options, index), view);
  return view;
}

std::vector<View> make_views(const Context& context, const SceneOptions& options) {
  options.validate();
  std::vector<View> views;
  views.reserve(options.views);
  for (int i = 0; i < options.views; ++i) views.push_back(make_view(context, options, i));
  return views;
}

std::vector<Camera> scene_cameras(const SceneOptions& options) {
  options.validate();
  std::vector<Camera> cameras = camera_path(scene_world(options), path_options(options));
  for (std::size_t i = 0; i < cameras.size(); ++i) {
    cameras[i] = degraded_camera(cameras[i], degradation_of(options, static_cast<int>(i)));
  }
  return cameras;
}

std::optional<Plane> scene_plane(const SceneOptions& options) { return scene_world(options).plane; }

}  // namespace cornea
