// SPDX-License-Identifier: Apache-2.0
// The data if no folder is given: views that the program renders itself.
#include "study/evaluate/found.h"
#include "study/study.h"

#include "cornea/scene/scene.h"

namespace cornea::evaluate {
namespace {

constexpr int kWidth = 640, kHeight = 480;

Pixels shared_bytes(const Image<float>& image) {
  return std::make_shared<const Image<std::uint8_t>>(cli::in_bytes(image.host()));
}

Matrix as_matrix(const Eigen::Matrix3d& m) {
  return {m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2), m(2, 0), m(2, 1), m(2, 2)};
}

SceneOptions options_of(SceneKind kind, int views, double step_degrees) {
  SceneOptions options;
  options.kind = kind;
  options.views = views;
  options.width = kWidth;
  options.height = kHeight;
  options.step_degrees = step_degrees;
  options.degradation.noise = 2;
  return options;
}

Picture picture_of(const View& view, const std::string& scene) {
  Picture picture{scene + "/" + view.name, {}, shared_bytes(view.image)};
  for (const Eigen::Vector2d& corner : view.corners) {
    picture.corners.push_back({corner.x(), corner.y()});
  }
  return picture;
}

Sequence planar_sequence(const Context& context, const std::string& name, double step_degrees) {
  const SceneOptions options = options_of(SceneKind::plane, 4, step_degrees);
  const std::vector<View> views = make_views(context, options);
  Sequence sequence{name, {}, {}};
  for (std::size_t i = 0; i < views.size(); ++i) {
    sequence.pictures.push_back(picture_of(views[i], name));
    sequence.from_first.push_back(
        i == 0
            ? as_matrix(Eigen::Matrix3d::Identity())
            : as_matrix(plane_homography(views[0].camera, views[i].camera, *scene_plane(options))));
  }
  return sequence;
}

Views street(const Context& context) {
  Views street{"street", {}, {}};
  for (const View& view : make_views(context, options_of(SceneKind::boxes, 4, 8))) {
    const Camera& c = view.camera;
    street.pictures.push_back(picture_of(view, street.name));
    street.cameras.push_back({{.fx = c.K(0, 0), .fy = c.K(1, 1), .cx = c.K(0, 2), .cy = c.K(1, 2)},
                              as_matrix(c.R),
                              {c.t.x(), c.t.y(), c.t.z()}});
  }
  return street;
}

}  // namespace

Found generated_scenes(const Context& context) {
  Found found;
  found.pictures.push_back(picture_of(
      make_views(context, options_of(SceneKind::checkerboard, 1, 6)).front(), "checkerboard"));
  found.sequences.push_back(planar_sequence(context, "mural", 15));
  found.views.push_back(street(context));
  return found;
}

}  // namespace cornea::evaluate
