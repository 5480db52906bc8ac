// Inside of pipeline: what of a folder is not what the features in the database were made of, and
// what of the database is not of the options that this run has.
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

// The folder's name whatever it was called by.
std::string canonical_name(const std::filesystem::path& folder);

// Size and time, the hash left at 0; empty where there is no such file or it cannot be reached.
std::optional<colmap::FileStamp> stamp_without_hash(const std::filesystem::path& file);

struct FolderChanges {
  std::unordered_set<std::string> changed = {};   // names of the folder
  std::unordered_set<std::string> recorded = {};  // names of the folder of which there is a record
  std::unordered_set<std::string> masked = {};    // of the recorded: had a mask
  // Images whose files were in this folder, or in one that was moved here, and are gone.
  std::vector<colmap::ImageRecord> vanished = {};
  // Images of other folders with features of other options.
  std::vector<colmap::ImageRecord> elsewhere = {};
  std::vector<std::string> sentences = {};  // for the first of all these, a sentence each
  // Files of another time or folder and the same bytes: what is to be remembered now.
  std::vector<colmap::ImageRecord> moved = {};

  int count() const { return int(changed.size() + vanished.size() + elsewhere.size()); }
  // How many of each there are, for a sentence.
  std::string counts() const;
};
inline constexpr std::size_t kMostSentences = 5;

// `names` are those of the folder. Ends early, with what it has, where `stop` says so.
FolderChanges find_changes(const std::filesystem::path& folder,
                           const std::vector<std::string>& names, const colmap::Database& database,
                           const ExtractOptions& options, const std::function<bool()>& stop);

}  // namespace cornea::folder
