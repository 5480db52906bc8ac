// What a COLMAP database says of a folder of photographs, as its page shows it
// (report/folder_page.h).
//
// Nothing is estimated anew: distances, angles and lines come from the geometries and points that
// the database holds, whoever wrote them. Photographs are read for their thumbnails; one that is
// missing, cannot be read or has not the size that the database says is shown as such.
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
  // Longest side of a thumbnail, pixels. 0: chosen by the number of images, 800 for few, down to
  // 160 for very many.
  int thumbnail_side = 0;
  bool thumbnails = true;  // whether photographs are read for them at all
  int most_lines = 300;    // per pair, evenly chosen from its inliers
  // Pairs that are listed: all that have a geometry come first, those with the most inliers, then
  // those without one, those with the most matches.
  int most_pairs = 250000;
  std::uint64_t max_pixels = std::uint64_t{1} << 28;  // of a photograph

  void validate() const;
};

// Its title is the folder's name; stages, facts, command and files are the caller's to fill in, and
// further warnings. Steps of `events` are images and pairs. Rows that cannot be are reported and
// left out; stopped early, the page is of what was read until then, and the thumbnails are missing.
CORNEA_API FolderPage folder_overview(const Context& context, const colmap::Database& database,
                                      const std::filesystem::path& photographs,
                                      const OverviewOptions& options = {},
                                      const FolderEvents& events = {});

}  // namespace cornea
