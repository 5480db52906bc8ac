// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/shards/item_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "cornea/core/error.h"
#include "cornea/export/colmap/transfer.h"
#include "cornea/io/content_hash.h"
#include "cornea/io/whole_file.h"

namespace cornea::shards {
namespace {

namespace fs = std::filesystem;

constexpr char kLocalFront[] = "cornea-item-";
constexpr char kLock[] = "lock";

// Parses a name such as "00003.1258291200.9f86d081884c7d65.db".
std::optional<ItemFile> parsed(const fs::path& path) {
  const std::string name = path.filename().string();
  ItemFile file{.path = path};
  const char *at = name.data(), *end = name.data() + name.size();
  auto number = [&](auto& value, int base) {
    const auto read = std::from_chars(at, end, value, base);
    if (read.ec != std::errc() || read.ptr == end || *read.ptr != '.') return false;
    at = read.ptr + 1;
    return true;
  };
  if (!number(file.number, 10) || !number(file.bytes, 10) || !number(file.hash, 16) ||
      std::string(at, end) != "db") {
    return std::nullopt;
  }
  return file;
}

// Two processes may have done the same item, and one of them may have failed to read a photograph.
// The file with the fewest failures is taken, and of equal ones the first by name, so that every
// process takes the same.
struct Fitting {
  std::size_t failures = 0;
  ItemFile file = {};
  friend bool operator<(const Fitting& a, const Fitting& b) {
    return std::tie(a.failures, a.file.path) < std::tie(b.failures, b.file.path);
  }
};

void check(const std::error_code& failed, const fs::path& path, const char* what) {
  if (!failed) return;
  fail(ErrorCode::io, path.string(), ": ", what, " (", failed.message(),
       "); check the folder, its permissions and the free space");
}

// Removes folders of processes that have ended: a process holds a lock on its folder as long as it
// lives.
void remove_leftovers(const fs::path& local) {
  constexpr std::chrono::minutes kYoung(1);  // a younger folder may not be locked yet
  std::error_code failed;
  for (auto it = fs::directory_iterator(local, failed); !failed && it != fs::directory_iterator();
       it.increment(failed)) {
    std::error_code ignored;
    if (!it->path().filename().string().starts_with(kLocalFront) || it->is_symlink(ignored)) {
      continue;
    }
    const auto age = fs::file_time_type::clock::now() - it->last_write_time(ignored);
    if (ignored || age < kYoung) continue;
    const int lock = ::open((it->path() / kLock).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool is_free = lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0;
    if (is_free) fs::remove_all(it->path(), ignored);
    if (lock >= 0) ::close(lock);
  }
}

}  // namespace

std::multimap<int, ItemFile> files_of(const fs::path& work, ShardStep step) {
  std::multimap<int, ItemFile> all;
  std::error_code failed;
  for (auto it = fs::directory_iterator(work / name(step), failed);
       !failed && it != fs::directory_iterator(); it.increment(failed)) {
    if (const auto file = parsed(it->path())) all.emplace(file->number, *file);
  }
  return all;
}

std::string damage_of(const ItemFile& file, bool read) {
  std::error_code failed;
  const auto bytes = std::int64_t(fs::file_size(file.path, failed));
  if (failed) return text(file.path.string(), ": cannot be read (", failed.message(), ")");
  if (bytes != file.bytes) {
    return text(file.path.string(), ": has ", bytes, " bytes, but was written with ", file.bytes);
  }
  if (read && io::content_hash_of_file(file.path) != file.hash) {
    return text(file.path.string(), ": its contents have changed since it was written");
  }
  return "";
}

FoundItem find_item(const std::multimap<int, ItemFile>& files, int number, const Fits& fits,
                    bool read) {
  FoundItem found;
  std::vector<Fitting> fitting;
  const auto [first, last] = files.equal_range(number);
  for (auto it = first; it != last; ++it) {
    std::string damage;
    try {
      damage = damage_of(it->second, read);
      if (damage.empty()) {
        const colmap::Database database(it->second.path, colmap::Database::Open::finished);
        if (fits(database)) {
          fitting.push_back({colmap::notes(database, "failed").size(), it->second});
          continue;
        }
      }
    } catch (const Error& error) {
      damage = error.what();
    }
    found.others.push_back(it->second);
    found.damaged |= !damage.empty();
    found.sentences.push_back(
        damage.empty() ? text(it->second.path.string(),
                              ": was made from inputs or options that have changed since")
                       : damage);
  }
  std::sort(fitting.begin(), fitting.end());
  for (const Fitting& one : fitting) {
    if (found.file) {
      found.others.push_back(one.file);
    } else {
      found.file = one.file;
    }
  }
  return found;
}

ItemFile require_item(const std::multimap<int, ItemFile>& files, const ShardItem& item,
                      const Fits& fits, bool read) {
  FoundItem found = find_item(files, item.number, fits, read);
  if (found.file) return *found.file;
  const std::string which = text("item ", item.number, " of the step ", name(item.step));
  if (found.sentences.empty()) fail(ErrorCode::io, which, " is not done; do it first");
  // Items of match read parts of many shards and check only their sizes.
  fail(ErrorCode::io, found.sentences.front(), "; do ", which, " again",
       found.damaged && item.step == ShardStep::extract
           ? ", and remove the items of match and verify, which may have read it"
           : "");
}

Fits made_of(const std::string& words) {
  return [words](const colmap::Database& database) {
    return colmap::note(database, "made_of") == words;
  };
}

LocalFolder::LocalFolder(const fs::path& local) {
  std::error_code failed;
  const fs::path place = local.empty() ? fs::temp_directory_path(failed) : local;
  check(failed, "the system's folder for temporary files", "does not exist");
  fs::create_directories(place, failed);
  check(failed, place, "cannot be created");
  remove_leftovers(place);
  std::string name = (place / (std::string(kLocalFront) + "XXXXXX")).string();
  if (!::mkdtemp(name.data())) {
    check(std::error_code(errno, std::generic_category()), place, "does not allow a new folder");
  }
  path_ = name;
  lock_ = ::open((path_ / kLock).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (lock_ >= 0) (void)::flock(lock_, LOCK_EX | LOCK_NB);
}

LocalFolder::~LocalFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

void move_whole(const fs::path& from, const fs::path& target) {
  std::error_code failed;
  fs::rename(from, target, failed);
  if (!failed) return;
  // `target` is on another disk: copy under a temporary name and rename, so that the file appears
  // whole.
  const fs::path part = io::part_beside(target);
  failed.clear();
  fs::copy_file(from, part, failed);
  if (!failed) fs::rename(part, target, failed);
  std::error_code ignored;
  if (!failed) {
    fs::remove(from, ignored);
    return;
  }
  fs::remove(part, ignored);
  check(failed, target, "cannot be written");
}

ItemFile put_in_place(const fs::path& from, const fs::path& work, const ShardItem& item) {
  const fs::path folder = work / name(item.step);
  std::error_code failed;
  fs::create_directories(folder, failed);
  check(failed, folder, "cannot be created");
  ItemFile file{.path = {}, .number = item.number};
  file.bytes = std::int64_t(fs::file_size(from, failed));
  check(failed, from, "cannot be read");
  file.hash = io::content_hash_of_file(from);
  file.path = folder / text(core::zero_padded(std::uint64_t(item.number), 5), ".", file.bytes, ".",
                            hexadecimal(file.hash), ".db");
  io::remove_leftovers_beside(file.path);
  move_whole(from, file.path);
  return file;
}

}  // namespace cornea::shards
