// Inside of pipeline: the cameras of a database, by image.
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
  // Of all cameras: their sizes, and their parameters if they are to be used. Cameras that cannot
  // be are reported and counted; models that are not read are named in a note.
  int read(const colmap::Database& database, bool with_parameters, const FolderEvents& events);
  // An image of the database, after read().
  void add(const colmap::ImageRow& image);

  // Where both cameras are read and their focal lengths are known.
  std::optional<IntrinsicsPair> of_pair(colmap::Id first, colmap::Id second) const;
  // Whether it is only for the focal lengths that there are none.
  bool are_read(colmap::Id first, colmap::Id second) const;
  // Of a pair whose sizes are known.
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
