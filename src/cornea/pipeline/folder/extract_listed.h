// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: extract_folder() for a part of a folder that was listed before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/export/colmap/database.h"
#include "cornea/pipeline/folder/events.h"
#include "cornea/pipeline/folder/extract.h"

namespace cornea::folder {

class ListedImages {
 public:
  struct Image {
    std::string name = {};
    std::int64_t bytes = 0;  // size of its file; a file of another size is a failure
    colmap::Id id = 0;
  };
  // Sorted by name. `folder` is the name to store in records, wherever the files are read from.
  ListedImages(std::vector<Image> images, std::string folder)
      : images_(std::move(images)), folder_(std::move(folder)) {
    for (std::size_t i = 0; i < images_.size(); ++i) places_[images_[i].name] = i;
  }
  const std::vector<Image>& images() const { return images_; }
  const std::string& folder() const { return folder_; }
  const Image& named(const std::string& name) const { return images_[places_.at(name)]; }

 private:
  std::vector<Image> images_;
  std::string folder_;
  std::unordered_map<std::string, std::size_t> places_;
};

ExtractReport extract_listed(const Context& context, const std::filesystem::path& folder,
                             colmap::Database& database, const ExtractOptions& options,
                             const FolderEvents& events, const ListedImages& listed);

// How list_images() treats a file of this name: as an image, as an ignored image, or not at all.
enum class NameKind { image, ignored, other };
NameKind kind_of_name(const std::string& name);

}  // namespace cornea::folder
