// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: finds images whose files differ from those that their features were
// extracted from, and features that were extracted with other options than this run's.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "cornea/export/colmap/database.h"
#include "cornea/pipeline/folder/extract.h"

namespace cornea::folder {

// The canonical path of the folder.
std::string canonical_name(const std::filesystem::path& folder);

// Size and time of modification, with the hash left at 0; empty if the file does not exist or
// cannot be reached.
std::optional<colmap::FileStamp> stamp_without_hash(const std::filesystem::path& file);

struct FolderChanges {
  std::unordered_set<std::string> changed = {};   // names of changed images
  std::unordered_set<std::string> recorded = {};  // names of images with a record
  std::unordered_set<std::string> masked = {};    // of the recorded images: those that had a mask
  // Images whose files were in this folder, or in one that was moved here, and no longer exist.
  std::vector<colmap::ImageRecord> vanished = {};
  // Images of other folders whose features were extracted with other options.
  std::vector<colmap::ImageRecord> elsewhere = {};
  std::vector<std::string> sentences = {};  // for the first kMostSentences of these
  // Files with the same bytes but another time or folder: the records to store instead.
  std::vector<colmap::ImageRecord> moved = {};

  int count() const { return int(changed.size() + vanished.size() + elsewhere.size()); }
  // The number of each, for an error sentence.
  std::string counts() const;
};
inline constexpr std::size_t kMostSentences = 5;

// `names` are the image names of the folder. Returns early, with what it has so far, if `stop`
// returns true.
FolderChanges find_changes(const std::filesystem::path& folder,
                           const std::vector<std::string>& names, const colmap::Database& database,
                           const ExtractOptions& options, const std::function<bool()>& stop);

}  // namespace cornea::folder
