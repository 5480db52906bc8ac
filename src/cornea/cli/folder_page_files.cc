// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/folder_page_files.h"

#include <algorithm>
#include <set>

#include "cornea/cli/folder.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

bool is_part_name(const std::string& name) {
  return (name.starts_with("thumbnails-") || name.starts_with("lines-")) && name.ends_with(".js");
}

// Deletes the parts of an earlier page; those that cannot be deleted do no harm.
void delete_old_parts(const fs::path& folder, const std::set<std::string>& current) {
  std::error_code ignored;
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_part_name(name) && !current.contains(name)) old.push_back(entry.path());
  }
  for (const fs::path& file : old) fs::remove(file, ignored);
  if (current.empty() && !old.empty())
    fs::remove(folder, ignored);  // only succeeds if the folder is empty
}

std::int64_t verified_pairs(const FolderPage& page) {
  return page.further_verified +
         std::count_if(page.pairs.begin(), page.pairs.end(),
                       [](const FolderPagePair& p) { return p.has_geometry(); });
}

std::vector<std::string> unconnected_names(const FolderPage& page) {
  std::vector<std::string> names;
  for (const FolderPageImage& image : page.images) {
    if (page.components[std::size_t(image.component)].images == 1) names.push_back(image.name);
  }
  return names;
}

}  // namespace

std::vector<fs::path> write_folder_page(const fs::path& folder, const FolderPage& page) {
  const FolderPageOptions options;
  const std::vector<FolderPageFile> files = folder_page(page, options);
  const fs::path parts = folder / options.parts_folder;
  make_folder(folder);
  if (files.size() > 1) make_folder(parts);
  std::vector<fs::path> written;
  std::set<std::string> current;
  for (const FolderPageFile& file : files) {
    written.push_back(folder / file.name);
    if (written.size() == 1) continue;
    write_text(written.back(), file.bytes);
    current.insert(written.back().filename().string());
  }
  write_text(written[0], files[0].bytes);
  delete_old_parts(parts, current);
  return written;
}

Json folder_page_json(const FolderPage& page) {
  std::int64_t features = 0, unseen = 0;
  for (const FolderPageImage& image : page.images) {
    features += image.features;
    unseen += !image.problem.empty();
  }
  Json sizes = Json::array(), warnings = Json::array();
  for (const FolderPageComponent& c : page.components) {
    if (c.images > 1) sizes.push_back(c.images);
  }
  for (const FolderPageWarning& w : page.warnings) warnings.push_back(w.sentence);
  return {{"images", page.images.size()},
          {"features", features},
          {"pairs", std::int64_t(page.pairs.size()) + page.further_pairs},
          {"verified", verified_pairs(page)},
          {"components", std::move(sizes)},
          {"unconnected", unconnected_names(page)},
          {"unseen", unseen},
          {"warnings", std::move(warnings)}};
}

std::string folder_page_words(const FolderPage& page) {
  const std::int64_t alone = std::int64_t(unconnected_names(page).size());
  const std::int64_t groups = std::int64_t(page.components.size()) - alone;
  std::string words = text(
      counted(std::int64_t(page.images.size()), "image"), " in ", counted(groups, "group"), ", ",
      grouped(alone), " unconnected; ", grouped(verified_pairs(page)), " of ",
      counted(std::int64_t(page.pairs.size()) + page.further_pairs, "pair"), " with a geometry");
  for (const FolderPageWarning& warning : page.warnings) words += "\n" + warning.sentence;
  return words;
}

}  // namespace cornea::cli
