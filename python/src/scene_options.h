// SPDX-License-Identifier: Apache-2.0
// The options of scenes, separated from tables.h because they need Eigen's headers. They are in the
// visitors' namespace, where the templates of tables.h find them.
#pragma once

#include "tables.h"

#include "cornea/scene.h"

namespace cornea::catalog {

inline constexpr Choice<SceneKind> kSceneKinds[] = {{SceneKind::boxes, "boxes"},
                                                    {SceneKind::plane, "plane"},
                                                    {SceneKind::checkerboard, "checkerboard"}};

template <class Visitor>
void visit(SceneOptions& o, Visitor& v) {
  v("kind", o.kind,
    "boxes (on a street), plane (a flat mural) or checkerboard (with known corners)", kSceneKinds);
  v("views", o.views, "number of cameras");
  v("width", o.width, "pixels");
  v("height", o.height, "pixels");
  v("seed", o.seed, "seed of the random scene");
  v("step-degrees", o.step_degrees, "degrees between neighbouring views, seen from the scene");
  v("baseline", o.baseline, "metres between neighbouring views; 0: by step_degrees");
  v("field-of-view-degrees", o.field_of_view_degrees,
    "field of view across the image width, degrees");
  v("focal-px", o.focal_px, "focal length, pixels; 0: by field_of_view_degrees");
  v("jitter", o.jitter,
    "random deviation of the cameras from the arc, as a fraction of the distance");
  v("samples", o.samples, "rays per pixel along each axis");
  v("board-columns", o.board_columns, "cells of the checkerboard across");
  v("board-rows", o.board_rows, "cells of the checkerboard down");
  v("noise", o.degradation.noise, "standard deviation, gray levels of 0..255");
  v("contrast", o.degradation.contrast, "factor about middle gray");
  v("brightness", o.degradation.brightness, "added, gray levels of 0..255");
  v("jpeg-quality", o.degradation.jpeg_quality, "JPEG quality, 1..100; 0: not compressed");
  v("blur", o.degradation.blur, "Gaussian sigma, pixels");
  v("rotate-degrees", o.degradation.rotate_degrees, "degrees clockwise, all views but the first");
  v("scale", o.degradation.scale, "scale factor of all views but the first");
}

}  // namespace cornea::catalog
