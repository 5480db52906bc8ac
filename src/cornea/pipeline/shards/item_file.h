// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: the files of items, which are written elsewhere and moved into place whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cornea/core/digits.h"
#include "cornea/export/colmap/database.h"
#include "cornea/pipeline/shards/shards.h"

namespace cornea::shards {

using core::hexadecimal;

// A file, described by the fields of its name.
struct ItemFile {
  std::filesystem::path path = {};
  int number = 0;
  std::int64_t bytes = 0;
  std::uint64_t hash = 0;
};

// All files of a step by item number, including damaged ones.
std::multimap<int, ItemFile> files_of(const std::filesystem::path& work, ShardStep step);

// Describes how the file differs from what its name says; empty if it does not. With `read` its
// hash is checked as well.
std::string damage_of(const ItemFile& file, bool read);

// The file of an item that was made from the right inputs, if there is one. All other files of the
// item go to `others`, and for those that do not fit the reasons to `sentences`; `damaged` says
// whether one of them was damaged rather than made from other inputs.
struct FoundItem {
  std::optional<ItemFile> file = {};
  std::vector<ItemFile> others = {};
  std::vector<std::string> sentences = {};
  bool damaged = false;
};
using Fits = std::function<bool(const colmap::Database&)>;
FoundItem find_item(const std::multimap<int, ItemFile>& files, int number, const Fits& fits,
                    bool read);
// As above for an item that must exist; otherwise an error says to do it first.
ItemFile require_item(const std::multimap<int, ItemFile>& files, const ShardItem& item,
                      const Fits& fits, bool read);
// Accepts a file that was recorded as made from exactly these words.
Fits made_of(const std::string& words);

// A folder on a local disk that is deleted with this object. Folders that killed processes left
// beside it are removed.
class LocalFolder {
 public:
  explicit LocalFolder(const std::filesystem::path& local);
  ~LocalFolder();
  LocalFolder(const LocalFolder&) = delete;
  LocalFolder& operator=(const LocalFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

// Moves a finished file to `target`, which may be on another disk.
void move_whole(const std::filesystem::path& from, const std::filesystem::path& target);
ItemFile put_in_place(const std::filesystem::path& from, const std::filesystem::path& work,
                      const ShardItem& item);

}  // namespace cornea::shards
