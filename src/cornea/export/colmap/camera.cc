// SPDX-License-Identifier: Apache-2.0
#include "cornea/export/colmap/camera.h"

#include <algorithm>

#include "cornea/core/error.h"
#include "cornea/export/colmap/intrinsics.h"

namespace cornea::colmap {

Camera camera_of_image(int width, int height, const std::optional<Exif>& exif, CameraModel model) {
  constexpr double kGuess = 1.2;
  const double longer_side = std::max(width, height);
  const double known = exif ? focal_pixels(*exif, width, height) : 0;
  const double focal = known > 0 ? known : kGuess * longer_side;
  Camera camera;
  camera.model = int(model);
  camera.width = width;
  camera.height = height;
  camera.prior_focal_length = known > 0;
  camera.params = {focal, width / 2.0, height / 2.0};
  if (model == CameraModel::pinhole || model == CameraModel::opencv) {
    camera.params.insert(camera.params.begin(), focal);
  }
  camera.params.resize(parameter_count(model), 0.0);
  return camera;
}

std::string camera_words(int width, int height, const std::optional<Exif>& exif) {
  if (!exif || exif->make.empty() || exif->model.empty()) return "";
  const double focal = exif->focal_35mm > 0 ? exif->focal_35mm : exif->focal_mm;
  if (focal <= 0) return "";
  // Fields are separated by line breaks, so that different fields never give the same text.
  return text(exif->make, "\n", exif->model, "\n", exif->focal_35mm > 0 ? "35 mm: " : "mm: ", focal,
              "\n", width, " x ", height, "\n", focal_pixels(*exif, width, height), " px");
}

PosePrior pose_prior_of(const std::optional<Exif>& exif) {
  PosePrior prior;
  if (!exif) return prior;
  if (exif->gps && exif->gps->altitude_m) {
    prior.position = {exif->gps->latitude, exif->gps->longitude, *exif->gps->altitude_m};
  }
  if (!exif->orientation_said) return prior;
  switch (exif->orientation) {
    case 1:
      prior.gravity = {0, 1, 0};
      break;
    case 3:
      prior.gravity = {0, -1, 0};
      break;
    case 6:
      prior.gravity = {1, 0, 0};
      break;
    case 8:
      prior.gravity = {-1, 0, 0};
      break;
    default:
      break;
  }
  return prior;
}

}  // namespace cornea::colmap
