// SPDX-License-Identifier: Apache-2.0
#include "binding.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#if CORNEA_HAS_SCENE
#include "scene_options.h"
#endif

namespace cornea::python {

using namespace nb::literals;

#if CORNEA_HAS_SCENE
namespace {

nb::object matrix(const Eigen::Matrix3d& m) {
  std::vector<double> rows;
  for (int i = 0; i < 3; ++i) rows.insert(rows.end(), {m(i, 0), m(i, 1), m(i, 2)});
  return array_from(std::move(rows), {3, 3});
}

nb::dict view_dict(View&& view) {
  const Camera& c = view.camera;
  nb::dict dict;
  dict["name"] = view.name;
  dict["K"] = matrix(c.K);
  dict["R"] = matrix(c.R);
  dict["t"] = array_from(std::vector<double>{c.t.x(), c.t.y(), c.t.z()}, {3});
  std::vector<double> corners;
  for (const auto& corner : view.corners) corners.insert(corners.end(), {corner.x(), corner.y()});
  const std::size_t n = view.corners.size();
  dict["corners"] = n ? array_from(std::move(corners), {n, std::size_t(2)}) : nb::none();
  dict["image"] = array_from(std::move(view.image));
  return dict;
}

// (views, {(i, j): (F, H or None)})
nb::tuple scene(const Context& context, const Settings& settings) {
  const auto options = options_from<SceneOptions>(settings, "scene");
  options.validate();
  std::vector<View> views;
  {
    nb::gil_scoped_release release;
    views = make_views(context, options);
  }
  const std::vector<Camera> cameras = scene_cameras(options);
  const std::optional<Plane> plane = scene_plane(options);
  nb::dict pairs;
  for (std::size_t i = 0; i < cameras.size(); ++i) {
    for (std::size_t j = i + 1; j < cameras.size(); ++j) {
      nb::object H = nb::none();
      if (plane) H = matrix(plane_homography(cameras[i], cameras[j], *plane));
      pairs[nb::make_tuple(i, j)] = nb::make_tuple(matrix(fundamental(cameras[i], cameras[j])), H);
    }
  }
  nb::list list;
  for (View& view : views) list.append(view_dict(std::move(view)));
  return nb::make_tuple(list, pairs);
}

}  // namespace
#else
namespace {

nb::tuple scene(const Context&, const Settings&) {
  fail(ErrorCode::unsupported,
       "this build of Cornea has no scenes; build it where Eigen 3.4 is installed");
}

}  // namespace
#endif

void bind_scene(nb::module_& m) { m.def("scene", &scene, "context"_a, "settings"_a); }

}  // namespace cornea::python
