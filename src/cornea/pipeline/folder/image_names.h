// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: looks up the images of a database by name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cornea/export/colmap/database.h"
#include "cornea/pipeline/folder/match_all.h"

namespace cornea::folder {

class ImageNames {
 public:
  explicit ImageNames(std::vector<colmap::ImageRow> rows);
  explicit ImageNames(const colmap::Database& database);

  std::optional<colmap::Id> id_of(const std::string& name) const;
  // All ways to split a line, which must not end in white space, into two names of images. Parts
  // longer than the longest name are not looked up, because a line may be a whole file.
  std::vector<colmap::ImagePair> ways_to_split(std::string_view line) const;

 private:
  std::unordered_map<std::string, colmap::Id> ids_;
  std::size_t longest_ = 0;
};

// read_pair_list() of match_all.h for images that may be in any database.
PairList read_pair_list(const std::filesystem::path& file, const ImageNames& names);

}  // namespace cornea::folder
