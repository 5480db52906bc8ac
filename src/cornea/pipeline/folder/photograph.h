// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: a photograph of a folder, from its file to its features.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cornea/core/image.h"
#include "cornea/core/reduce.h"
#include "cornea/export/colmap/database.h"
#include "cornea/io/image_file.h"
#include "cornea/pipeline/folder/extract.h"

namespace cornea::folder {

inline constexpr colmap::Id kNoImage = -1;

struct Pending {
  std::string name = {};
  std::filesystem::path folder = {};  // where its file is
  colmap::Id image = kNoImage;        // its row in the database, if it has one
  colmap::Camera camera = {};         // of that row
  bool again = false;                 // the row has features, which are replaced
  bool shares = false;                // shares its camera with other images
  // its features were extracted with a mask, so it must have one again
  bool needs_mask = false;
  std::filesystem::path file() const { return folder / name; }
};

struct Decoded {
  Photograph photograph = {};
  Image<std::uint8_t> mask = {};
  colmap::FileStamp file = {};
  std::optional<colmap::FileStamp> mask_file = {};
  core::Reduced reduced = {};  // image and mask at the size of feature extraction
  std::string error = {};      // empty if it could be read
  double milliseconds = 0;
};

Decoded decode(const Pending& pending, const ExtractOptions& options);

}  // namespace cornea::folder
