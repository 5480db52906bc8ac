// SPDX-License-Identifier: Apache-2.0
// Collects what a COLMAP database contains about a folder of photographs, for its page
// (report/folder_page.h).
//
// Nothing is estimated again: distances, angles and lines are computed from the geometries and
// points in the database, whichever program wrote them. Photographs are only read for their
// thumbnails; the page says so if one is missing, cannot be read or has another size than in the
// database.
#pragma once

#include <cstdint>
#include <filesystem>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/pipeline/folder/events.h"
#include "cornea/report/folder_page.h"

namespace cornea {

struct CORNEA_API OverviewOptions {
  // Longest side of a thumbnail, pixels. 0: chosen by the number of images, from 800 for a few down
  // to 160 for very many.
  int thumbnail_side = 0;
  bool thumbnails = true;  // whether photographs are read at all
  int most_lines = 300;    // per pair, sampled evenly from its inliers
  // Maximum number of listed pairs. Pairs with a geometry come first, by the number of inliers,
  // then those without, by the number of matches.
  int most_pairs = 250000;
  std::uint64_t max_pixels = std::uint64_t{1} << 28;  // limit for a photograph

  void validate() const;
};

// The title is the folder's name; stages, facts, command, files and further warnings are left to
// the caller. The steps of `events` are images and pairs. Invalid rows are reported and left out.
// If stopped early, the page shows what was read until then.
CORNEA_API FolderPage folder_overview(const Context& context, const colmap::Database& database,
                                      const std::filesystem::path& photographs,
                                      const OverviewOptions& options = {},
                                      const FolderEvents& events = {});

}  // namespace cornea
