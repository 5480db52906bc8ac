// SPDX-License-Identifier: Apache-2.0
// list_images of extract.h.
#include <algorithm>
#include <iterator>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/pipeline/folder/extract.h"
#include "cornea/pipeline/folder/extract_listed.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTaken[] = {".jpg", ".jpeg", ".png", ".tif", ".tiff"};
// Endings of other image formats. A user who has such files in a folder of photographs expects them
// to be used, so they are reported.
constexpr const char* kPictures[] = {
    ".heic", ".heif", ".avif", ".jxl", ".jp2", ".webp", ".gif", ".bmp", ".tga", ".exr", ".hdr",
    ".pgm",  ".ppm",  ".pnm",  ".pbm", ".pfm", ".dng",  ".cr2", ".cr3", ".crw", ".nef", ".nrw",
    ".arw",  ".srf",  ".sr2",  ".raf", ".orf", ".rw2",  ".pef", ".srw", ".raw", ".3fr", ".iiq"};

using folder::NameKind;

NameKind kind_of(const fs::path& file) {
  const std::string ending = extension_in_lower_case(file);
  const auto is_ending = [&](const char* one) { return ending == one; };
  const bool taken = std::any_of(std::begin(kTaken), std::end(kTaken), is_ending) ||
                     (kHasWebp && ending == ".webp");
  // On other file systems macOS stores extended attributes in files of these names.
  if (taken)
    return file.filename().string().starts_with("._") ? NameKind::ignored : NameKind::image;
  return std::any_of(std::begin(kPictures), std::end(kPictures), is_ending) ? NameKind::ignored
                                                                            : NameKind::other;
}

}  // namespace

NameKind folder::kind_of_name(const std::string& name) {
  for (const fs::path& part : fs::path(name).parent_path()) {
    if (part.string().starts_with('.')) return NameKind::other;
  }
  return kind_of(name);
}

FolderListing list_images(const fs::path& folder, const fs::path& except) {
  std::error_code failed;
  FolderListing listing;
  if (!fs::is_directory(folder, failed)) {
    fail(ErrorCode::io, folder.string(), ": is not a folder; name one that holds images");
  }
  require(except.empty() || !fs::equivalent(folder, except, failed), folder.string(),
          ": is the folder of the images and cannot be that of their masks; move the masks into a "
          "folder of their own");
  failed.clear();
  auto it = fs::recursive_directory_iterator(folder, failed);
  for (; !failed && it != fs::recursive_directory_iterator(); it.increment(failed)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) {
      const bool hidden = it->path().filename().string().starts_with('.');
      std::error_code closed;
      const fs::directory_iterator opened(it->path(), closed);
      if (closed && !hidden) {
        listing.unreadable.push_back(text(it->path().string(),
                                          ": is a folder that cannot be read (", closed.message(),
                                          "); check its permissions"));
      }
      if (closed || hidden || (!except.empty() && fs::equivalent(it->path(), except, ignored))) {
        it.disable_recursion_pending();
      }
      continue;
    }
    const NameKind kind = kind_of(it->path());
    if (kind == NameKind::other) continue;
    // A dangling symbolic link is reported as an image that cannot be read.
    const bool dangles = it->is_symlink(ignored) && !it->exists(ignored);
    if (!dangles && !it->is_regular_file(ignored)) continue;
    (kind == NameKind::image ? listing.names : listing.ignored)
        .push_back(it->path().lexically_relative(folder).generic_string());
  }
  if (failed) fail(ErrorCode::io, folder.string(), ": cannot be read (", failed.message(), ")");
  std::sort(listing.names.begin(), listing.names.end());
  std::sort(listing.ignored.begin(), listing.ignored.end());
  return listing;
}

}  // namespace cornea
