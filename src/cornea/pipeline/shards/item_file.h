// Inside of pipeline: the files of items, which are made elsewhere and moved into place whole.
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

std::uint64_t hash_of(const std::string& text);

// A file by what its name says of it.
struct ItemFile {
  std::filesystem::path path = {};
  int number = 0;
  std::int64_t bytes = 0;
  std::uint64_t hash = 0;
};

// All files of a step by the number of their items, damaged ones too.
std::multimap<int, ItemFile> files_of(const std::filesystem::path& work, ShardStep step);

// Why it is not what its name says; empty where it is. With `read` its hash is compared as well.
std::string damage_of(const ItemFile& file, bool read);

// The file of an item that was made of what it should be, if there is one. What is there instead,
// and why it is not taken, goes to `others` and `sentences`; whether one of them was damaged, and
// not only made of something else, to `damaged`.
struct FoundItem {
  std::optional<ItemFile> file = {};
  std::vector<ItemFile> others = {};
  std::vector<std::string> sentences = {};
  bool damaged = false;
};
using Fits = std::function<bool(const colmap::Database&)>;
FoundItem find_item(const std::multimap<int, ItemFile>& files, int number, const Fits& fits,
                    bool read);
// The same, of an item that must be there; an error says to do it first.
ItemFile require_item(const std::multimap<int, ItemFile>& files, const ShardItem& item,
                      const Fits& fits, bool read);
// Whether a file says that it was made of this.
Fits made_of(const std::string& words);

// A folder of its own on a local disk, gone with this object. What processes that were killed have
// left in the same place is removed.
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

// Moves a finished file to its place, under its name; `target` may lie on another disk.
void move_whole(const std::filesystem::path& from, const std::filesystem::path& target);
ItemFile put_in_place(const std::filesystem::path& from, const std::filesystem::path& work,
                      const ShardItem& item);

}  // namespace cornea::shards
