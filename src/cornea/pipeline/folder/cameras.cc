// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/cameras.h"

#include <map>
#include <string>
#include <vector>

#include "cornea/core/error.h"
#include "cornea/export/colmap/intrinsics.h"
#include "cornea/geometry/two_view/watermark.h"

namespace cornea::folder {

int FolderCameras::read(const colmap::Database& database, bool with_parameters,
                        const FolderEvents& events) {
  std::vector<std::string> damaged;
  std::map<int, int> not_read;  // cameras by model
  for (const colmap::Camera& camera : database.cameras(&damaged)) {
    Known& known = cameras_[camera.id];
    known = {camera.width, camera.height, camera.prior_focal_length, std::nullopt};
    if (!with_parameters) continue;
    try {
      known.intrinsics = colmap::intrinsics_of(camera);
      if (!known.intrinsics) ++not_read[camera.model];
    } catch (const colmap::DamagedRow& error) {
      damaged.emplace_back(error.what());
    }
  }
  if (!with_parameters) return 0;
  for (const std::string& sentence : damaged) {
    events.report(
        text(database.file(), ": ", sentence, "; its images are verified without cameras"));
  }
  for (const auto& [model, count] : not_read) {
    events.note(
        text(database.file(), ": ", count, count == 1 ? " camera has" : " cameras have",
             " the model ", colmap::name_of_model(model),
             ", which is not supported; pairs of their images are verified without cameras"));
  }
  return int(damaged.size());
}

void FolderCameras::add(const colmap::ImageRow& image) { camera_of_[image.id] = image.camera; }

const FolderCameras::Known* FolderCameras::of_image(colmap::Id image) const {
  const auto camera = camera_of_.find(image);
  if (camera == camera_of_.end()) return nullptr;
  const auto known = cameras_.find(camera->second);
  return known == cameras_.end() ? nullptr : &known->second;
}

std::optional<IntrinsicsPair> FolderCameras::of_pair(colmap::Id first, colmap::Id second) const {
  if (!are_read(first, second)) return std::nullopt;
  const Known &a = *of_image(first), &b = *of_image(second);
  if (!a.prior || !b.prior) return std::nullopt;
  return IntrinsicsPair{*a.intrinsics, *b.intrinsics};
}

bool FolderCameras::are_read(colmap::Id first, colmap::Id second) const {
  const Known *a = of_image(first), *b = of_image(second);
  return a && b && a->intrinsics && b->intrinsics;
}

bool FolderCameras::is_watermark(colmap::Id pair, std::span<const Correspondence> inliers) const {
  const auto [first, second] = colmap::pair_of(pair);
  const Known *a = of_image(first), *b = of_image(second);
  auto has_size = [](const Known* camera) {
    return camera && camera->width > 0 && camera->height > 0;
  };
  if (!has_size(a) || !has_size(b)) return false;
  return cornea::is_watermark(inliers, {a->width, a->height}, {b->width, b->height});
}

}  // namespace cornea::folder
