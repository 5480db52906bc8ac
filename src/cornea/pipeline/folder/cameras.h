// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: the cameras of a database, by image.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>

#include "cornea/core/features.h"
#include "cornea/export/colmap/database.h"
#include "cornea/geometry/two_view/essential.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea::folder {

class FolderCameras {
 public:
  // Reads all cameras: their sizes, and their parameters if they are to be used. Invalid parameters
  // that are to be used are reported and counted; unsupported models are named in a note.
  int read(const colmap::Database& database, bool with_parameters, const FolderEvents& events);
  // Adds an image of the database; call it after read().
  void add(const colmap::ImageRow& image);

  // Both cameras, if they were read and their focal lengths are known.
  std::optional<IntrinsicsPair> of_pair(colmap::Id first, colmap::Id second) const;
  // Whether both cameras were read, so that of_pair() can only be empty for unknown focal lengths.
  bool are_read(colmap::Id first, colmap::Id second) const;
  // For a pair whose image sizes are known.
  bool is_watermark(colmap::Id pair, std::span<const Correspondence> inliers) const;

 private:
  struct Known {
    int width = 0, height = 0;
    bool prior = false;
    std::optional<Intrinsics> intrinsics;
  };
  const Known* of_image(colmap::Id image) const;

  std::unordered_map<colmap::Id, Known> cameras_;
  std::unordered_map<colmap::Id, colmap::Id> camera_of_;
};

}  // namespace cornea::folder
