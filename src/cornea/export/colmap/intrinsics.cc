// SPDX-License-Identifier: Apache-2.0
#include "cornea/export/colmap/intrinsics.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cornea/core/error.h"
#include "cornea/export/colmap/layout.h"

namespace cornea::colmap {
namespace {

// Indexed by COLMAP's model number.
constexpr const char* kModels[] = {"SIMPLE_PINHOLE",
                                   "PINHOLE",
                                   "SIMPLE_RADIAL",
                                   "RADIAL",
                                   "OPENCV",
                                   "OPENCV_FISHEYE",
                                   "FULL_OPENCV",
                                   "FOV",
                                   "SIMPLE_RADIAL_FISHEYE",
                                   "RADIAL_FISHEYE",
                                   "THIN_PRISM_FISHEYE",
                                   "RAD_TAN_THIN_PRISM_FISHEYE",
                                   "SIMPLE_DIVISION",
                                   "DIVISION",
                                   "SIMPLE_FISHEYE",
                                   "FISHEYE",
                                   "EUCM",
                                   "EQUIRECTANGULAR"};

// The indices of the parameters in COLMAP's array.
struct Layout {
  std::size_t parameters;
  std::size_t fy;          // 0: equal to fx
  std::size_t cx;          // cy follows
  std::size_t distortion;  // k1, then k2, p1 and p2; indices from `parameters` on are 0
};
std::optional<Layout> layout_of(int model) {
  switch (CameraModel(model)) {
    case CameraModel::simple_pinhole:
      return Layout{3, 0, 1, 3};
    case CameraModel::pinhole:
      return Layout{4, 1, 2, 4};
    case CameraModel::simple_radial:
      return Layout{4, 0, 1, 3};
    case CameraModel::radial:
      return Layout{5, 0, 1, 3};
    case CameraModel::opencv:
      return Layout{8, 1, 2, 4};
  }
  return std::nullopt;
}

}  // namespace

std::string name_of_model(int model) {
  if (model >= 0 && model < int(std::size(kModels))) return kModels[model];
  return text("model ", model);
}

std::optional<CameraModel> model_named(const std::string& name) {
  for (int model = 0; model <= int(CameraModel::opencv); ++model) {
    if (name == kModels[model]) return CameraModel(model);
  }
  return std::nullopt;
}

std::size_t parameter_count(CameraModel model) { return layout_of(int(model))->parameters; }

std::optional<Intrinsics> intrinsics_of(const Camera& camera) {
  const std::optional<Layout> layout = layout_of(camera.model);
  if (!layout) return std::nullopt;
  const std::vector<double>& p = camera.params;
  if (p.size() != layout->parameters) {
    throw DamagedRow(text("camera ", camera.id, " has ", p.size(), " parameters, but the model ",
                          name_of_model(camera.model), " has ", layout->parameters));
  }
  if (!std::all_of(p.begin(), p.end(), [](double value) { return std::isfinite(value); })) {
    throw DamagedRow(text("camera ", camera.id, " has a parameter that is not a number"));
  }
  if (p[0] <= 0 || p[layout->fy] <= 0) {
    throw DamagedRow(text("camera ", camera.id, " has a focal length of ",
                          std::min(p[0], p[layout->fy]), " pixels"));
  }
  auto distortion = [&](std::size_t i) {
    const std::size_t at = layout->distortion + i;
    return at < p.size() ? p[at] : 0;
  };
  Intrinsics made;
  made.fx = p[0];
  made.fy = p[layout->fy];
  made.cx = p[layout->cx] - kShift;
  made.cy = p[layout->cx + 1] - kShift;
  made.k1 = distortion(0);
  made.k2 = distortion(1);
  made.p1 = distortion(2);
  made.p2 = distortion(3);
  return made;
}

}  // namespace cornea::colmap
