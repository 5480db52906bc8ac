// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: thumbnails of a folder's photographs for its page.
#pragma once

#include <cstdint>
#include <filesystem>

#include "cornea/core/context.h"
#include "cornea/pipeline/folder/events.h"
#include "cornea/report/folder_page.h"

namespace cornea::folder {

struct ThumbnailOptions {
  int side = 0;  // longest side, pixels; 0: by the number of images
  std::uint64_t max_pixels = 0;
  const FolderEvents& events;
};

// Thumbnails have the orientation of the stored pixels, as the points have: the EXIF orientation is
// not applied. If a photograph cannot be shown, FolderPageImage::problem says why.
void add_thumbnails(const Context& context, FolderPage& page, const std::filesystem::path& folder,
                    const ThumbnailOptions& options);

}  // namespace cornea::folder
