// Inside of pipeline: a photograph of a folder on its way from its file to its features.
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
  std::filesystem::path folder = {};  // in which its file is
  colmap::Id image = kNoImage;        // of the row that it has
  colmap::Camera camera = {};         // of that row
  bool again = false;                 // the row has features, which are replaced
  bool shares = false;                // its camera with other images
  bool needs_mask = false;            // without one it would get other features than it should
  std::filesystem::path file() const { return folder / name; }
};

struct Decoded {
  Photograph photograph = {};
  Image<std::uint8_t> mask = {};
  colmap::FileStamp file = {};
  std::optional<colmap::FileStamp> mask_file = {};
  core::Reduced reduced = {};  // both, as features are sought in them
  std::string error = {};      // empty: it could be read
  double milliseconds = 0;
};

Decoded decode(const Pending& pending, const ExtractOptions& options);

}  // namespace cornea::folder
