// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/scene.h"

#include <iostream>

#include "cornea/cli/common.h"
#include "cornea/cli/progress.h"
#include "cornea/core/error.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

struct SceneCommand {
  CommonOptions common;
  std::string out, kind = "boxes";
  SceneOptions scene;
};

Json matrix_json(const Eigen::Matrix3d& m) {
  Json rows = Json::array();
  for (int i = 0; i < 3; ++i) rows.push_back({m(i, 0), m(i, 1), m(i, 2)});
  return rows;
}

Json view_json(const View& view, const std::string& file) {
  const Camera& c = view.camera;
  Json json = {
      {"image", file},         {"width", view.image.width()}, {"height", view.image.height()},
      {"K", matrix_json(c.K)}, {"R", matrix_json(c.R)},       {"t", {c.t.x(), c.t.y(), c.t.z()}}};
  if (!view.corners.empty()) {
    json["corners"] = Json::array();
    for (const auto& corner : view.corners) json["corners"].push_back({corner.x(), corner.y()});
  }
  return json;
}

// F of every pair, and H if the scene is planar.
Json pairs_json(const std::vector<Camera>& cameras, const SceneOptions& options) {
  const std::optional<Plane> plane = scene_plane(options);
  Json pairs = Json::array();
  for (std::size_t i = 0; i < cameras.size(); ++i) {
    for (std::size_t j = i + 1; j < cameras.size(); ++j) {
      const Camera &a = cameras[i], &b = cameras[j];
      Json pair = {{"a", i}, {"b", j}, {"F", matrix_json(fundamental(a, b))}};
      if (plane) pair["H"] = matrix_json(plane_homography(a, b, *plane));
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

int run_scene(SceneCommand& c) {
  usage_checked([&] {
    c.scene.kind = scene_kind(c.kind);
    c.scene.validate();
  });
  const Context context = c.common.context();
  make_folder(c.out);
  Json json = {{"kind", c.kind},
               {"seed", c.scene.seed},
               {"convention",
                "x_cam = R x_world + t; pixel ~ K x_cam; the centre of the first pixel is (0, 0); "
                "x_b^T F x_a = 0; x_b ~ H x_a"},
               {"views", Json::array()}};
  Progress progress("drawing", c.scene.views, c.common.quiet);
  for (int i = 0; i < c.scene.views; ++i) {
    const View view = make_view(context, c.scene, i);
    const std::string file = view.name + ".png";
    write_image(fs::path(c.out) / file, view.image);
    json["views"].push_back(view_json(view, file));
    progress.advance();
  }
  progress.finish();
  json["pairs"] = pairs_json(scene_cameras(c.scene), c.scene);
  write_text(fs::path(c.out) / "cameras.json", json_text(json));
  c.common.write_json(json);
  if (c.common.talks()) {
    std::cout << c.scene.views << (c.scene.views == 1 ? " view" : " views") << " of " << c.kind
              << " and cameras.json in " << c.out << std::endl;
  }
  return 0;
}

void add_scene_options(CLI::App& command, SceneCommand& c) {
  SceneOptions& s = c.scene;
  auto option = [&](const char* flag, auto& value, const char* help) {
    command.add_option(flag, value, help)->capture_default_str();
  };
  command.add_option("-o,--out", c.out, "folder for the images and cameras.json")
      ->required()
      ->type_name("DIR")
      ->check(&no_folder);
  option("--kind", c.kind,
         "boxes (on a street), plane (a flat mural) or checkerboard (with known corners)");
  option("--views", s.views, "number of cameras");
  option("--width", s.width, "pixels");
  option("--height", s.height, "pixels");
  option("--seed", s.seed, "seed of the random scene");
  option("--step", s.step_degrees, "degrees between neighbouring views, seen from the scene");
  option("--baseline", s.baseline, "metres between neighbouring views; 0: by --step");
  option("--fov", s.field_of_view_degrees, "field of view across the image width, degrees");
  option("--focal", s.focal_px, "focal length, pixels; 0: by --fov");
  option("--jitter", s.jitter,
         "random deviation of the cameras from the arc, as a fraction of the distance");
  option("--samples", s.samples, "rays per pixel along each axis");
  option("--columns", s.board_columns, "cells of the checkerboard across");
  option("--rows", s.board_rows, "cells of the checkerboard down");
  Degradation& d = s.degradation;
  auto harm = [&](const char* flag, auto& value, const char* help) {
    command.add_option(flag, value, help)->capture_default_str()->group("Degradations");
  };
  harm("--noise", d.noise, "standard deviation, gray levels of 0..255");
  harm("--contrast", d.contrast, "factor about middle gray");
  harm("--brightness", d.brightness, "added, gray levels of 0..255");
  harm("--jpeg", d.jpeg_quality, "JPEG quality, 1..100; 0: not compressed");
  harm("--blur", d.blur, "Gaussian sigma, pixels");
  harm("--rotate", d.rotate_degrees, "degrees clockwise, all views but the first");
  harm("--scale", d.scale, "scale factor of all views but the first");
}

}  // namespace

Run add_scene(CLI::App& app) {
  auto c = std::make_shared<SceneCommand>();
  CLI::App* command =
      app.add_subcommand("scene", "make synthetic views with exact cameras, F and H");
  c->common.device = "cpu";  // the ray caster is CPU code
  add_scene_options(*command, *c);
  add_common_options(*command, c->common);
  return [c] { return run_scene(*c); };
}

}  // namespace cornea::cli
