// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/changes.h"

#include <sys/stat.h>

#include "cornea/core/error.h"
#include "cornea/io/content_hash.h"
#include "cornea/pipeline/folder/options_text.h"

namespace cornea::folder {
namespace {

namespace fs = std::filesystem;
using colmap::FileStamp;
using colmap::ImageRecord;

bool is_gone(const fs::path& file) {
  std::error_code failed;
  return fs::status(file, failed).type() == fs::file_type::not_found;
}

// Compares a file with its recorded stamp. If size and time are equal, the file counts as unchanged
// without being read, unless `must_read`; `now` receives its current stamp.
bool differs(const fs::path& file, const FileStamp& then, bool must_read, FileStamp& now) {
  now.hash = then.hash;
  if (now.bytes == then.bytes && now.modified == then.modified && !must_read) return false;
  if (now.bytes == then.bytes) now.hash = io::content_hash_of_file(file);
  return now.bytes != then.bytes || now.hash != then.hash;
}

class Comparison {
 public:
  Comparison(const fs::path& folder, const ExtractOptions& options)
      : folder_(folder),
        options_(options),
        own_name_(canonical_name(folder)),
        options_text_(options_text(options)) {}

  // What differs, as the end of a sentence; empty if nothing does, and then `now` is the record to
  // store.
  std::string difference(const ImageRecord& then, ImageRecord& now) const {
    now = then;
    now.folder = own_name_;
    try {
      std::string file = file_difference(then, now);
      if (!file.empty()) return file;
      std::string mask = mask_difference(then, now);
      if (!mask.empty()) return mask;
    } catch (const Error& error) {
      return text("cannot be compared with the file its features were extracted from: ",
                  error.what());
    }
    return other_options(then);
  }
  // The same for the options alone.
  std::string other_options(const ImageRecord& then) const {
    if (then.options == options_text_) return "";
    return text("its features were extracted with other options: ",
                options_difference(then.options, options_text_));
  }
  const std::string& own_name() const { return own_name_; }
  bool is_of_this_folder(const ImageRecord& record) const { return record.folder == own_name_; }

 private:
  std::string file_difference(const ImageRecord& then, ImageRecord& now) const {
    const fs::path file = folder_ / then.name;
    const std::optional<FileStamp> stamp = stamp_without_hash(file);
    // It was listed, but has been removed or made unreadable since.
    if (!stamp) return "its file cannot be reached any more";
    now.file = *stamp;
    const bool moved = !is_of_this_folder(then);
    if (!differs(file, then.file, moved, now.file)) return "";
    return text(moved ? "is not the same file as the one of this name in " + then.folder
                      : std::string("its file changed since its features were extracted"),
                " (", then.file.bytes, " bytes then and ", now.file.bytes, " now)");
  }

  std::string mask_difference(const ImageRecord& then, ImageRecord& now) const {
    std::optional<FileStamp> stamp;
    const fs::path file = options_.masks.empty() ? fs::path() : mask_of(options_.masks, then.name);
    if (!file.empty()) stamp = stamp_without_hash(file);
    if (stamp.has_value() != then.mask.has_value()) {
      return stamp ? "its features were extracted without a mask, and it has one now"
                   : "its features were extracted with a mask, and it has none now";
    }
    if (!stamp) return "";
    const bool changed = differs(file, *then.mask, false, *stamp);
    now.mask = stamp;
    return changed ? "its mask changed since its features were extracted" : "";
  }

  const fs::path& folder_;
  const ExtractOptions& options_;
  const std::string own_name_, options_text_;
};

}  // namespace

std::string canonical_name(const fs::path& folder) {
  std::error_code failed;
  const fs::path name = fs::canonical(folder, failed);
  return (failed ? fs::absolute(folder).lexically_normal() : name).string();
}

std::optional<FileStamp> stamp_without_hash(const fs::path& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  constexpr std::int64_t kSecond = 1000000000;
  return FileStamp{std::int64_t(status.st_size),
                   std::int64_t(status.st_mtim.tv_sec) * kSecond + status.st_mtim.tv_nsec, 0};
}

std::string FolderChanges::counts() const {
  std::string all;
  auto add = [&](std::size_t count, const char* one, const char* several) {
    if (count == 0) return;
    all += text(all.empty() ? "" : ", ", count, count == 1 ? one : several);
  };
  add(changed.size(), " image has changed since its features were extracted",
      " images have changed since their features were extracted");
  add(vanished.size(), " image is no longer in the folder", " images are no longer in the folder");
  add(elsewhere.size(),
      " image of another folder has features that were extracted with other options",
      " images of other folders have features that were extracted with other options");
  return all;
}

FolderChanges find_changes(const fs::path& folder, const std::vector<std::string>& names,
                           const colmap::Database& database, const ExtractOptions& options,
                           const std::function<bool()>& stop) {
  const std::unordered_set<std::string> present(names.begin(), names.end());
  const Comparison comparison(folder, options);
  FolderChanges changes;
  auto say = [&](const fs::path& file, const std::string& what) {
    if (changes.sentences.size() < kMostSentences) {
      changes.sentences.push_back(text(file.string(), ": ", what));
    }
  };
  auto vanish = [&](const ImageRecord& then) {
    changes.vanished.push_back(then);
    say(folder / then.name, "is in the database but no longer in the folder");
  };
  std::vector<ImageRecord> others;                // not among the names, and not known to be gone
  std::unordered_set<std::string> moved_folders;  // former folders of files that are here now
  database.visit_records([&](const ImageRecord& then) {
    if (stop()) return;
    const bool own = comparison.is_of_this_folder(then);
    if (!present.contains(then.name)) {
      if (own && is_gone(folder / then.name)) return vanish(then);
      others.push_back(then);
      return;
    }
    changes.recorded.insert(then.name);
    if (then.mask) changes.masked.insert(then.name);
    ImageRecord now;
    const std::string what = comparison.difference(then, now);
    if (!what.empty()) {
      changes.changed.insert(then.name);
      // If everything is extracted again anyway, changes are not worth a note.
      if (!options.redo) say(folder / then.name, what);
    } else if (now != then) {
      changes.moved.push_back(now);
      if (!own && is_gone(fs::path(then.folder) / then.name)) moved_folders.insert(then.folder);
    }
  });
  for (const ImageRecord& then : others) {
    if (stop()) break;
    if (moved_folders.contains(then.folder) && is_gone(fs::path(then.folder) / then.name) &&
        is_gone(folder / then.name)) {
      vanish(then);
      changes.moved.push_back(then);
      changes.moved.back().folder = comparison.own_name();
      continue;
    }
    const std::string what = comparison.other_options(then);
    if (what.empty()) continue;
    changes.elsewhere.push_back(then);
    say(fs::path(then.folder) / then.name, what);
  }
  return changes;
}

}  // namespace cornea::folder
