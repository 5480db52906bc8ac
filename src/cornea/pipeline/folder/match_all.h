// SPDX-License-Identifier: Apache-2.0
// Matches the images of a COLMAP database with one another.
//
// Images are processed in blocks whose descriptors fit in memory; one block is matched with
// another, many pairs per call. Pairs that have a row of matches, even an empty one, are skipped,
// so that an interrupted run is continued by the next. The matches of a pair do not depend on what
// else is matched. Of several matches between the same two positions (points with several
// orientations) only one is stored.
//
// The database records the options that matches were made with. Images with invalid rows
// (impossible ids, descriptors that are not SIFT's) are reported and left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/match/match.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea {

struct CORNEA_API MatchAllOptions {
  MatchOptions match = {};
  // Which pairs: each image with the N after it in the order of names; listed ones; or all.
  int sequential = 0;                         // N; 0: not sequential
  std::vector<colmap::ImagePair> pairs = {};  // if `listed`, by image id, in any order
  bool listed = false;
  // Memory for the descriptors of a block of images.
  std::size_t block_bytes = std::size_t{64} << 20;
  // `changed` applies to pairs whose matches were made with other options; `redo` makes all
  // requested pairs again. Old matches and geometries are deleted first, in one transaction; if the
  // run is then stopped, a run without redo continues it.
  Changed changed = Changed::stop;
  bool redo = false;

  void validate() const;
};

struct MatchAllReport {
  int images = 0;                // with features
  std::int64_t pairs = 0;        // requested
  std::int64_t skipped = 0;      // had matches already
  std::int64_t matched = 0;      // have matches now
  std::int64_t missing = 0;      // of the listed: an image has no features
  std::int64_t redone = 0;       // of the pairs: had matches, which were deleted
  int bad_images = 0;            // left out, each reported in a sentence
  bool stopped = false;          // by FolderEvents::stop, before all was done
  std::int64_t images_read = 0;  // counts an image each time that its descriptors are read
  std::uint64_t matches = 0;     // of the matched pairs
  double milliseconds = 0;       // the whole call
  double compute_milliseconds = 0, read_milliseconds = 0, write_milliseconds = 0;
};

// A text file with two names per line, separated by white space. Names may contain spaces if only
// one way to split the line gives two images. Empty lines and lines that begin with # are skipped.
struct PairList {
  std::vector<colmap::ImagePair> pairs = {};
  // One sentence for each line that does not name two images.
  std::vector<std::string> refused = {};
};
// An error if the file cannot be read or every line is refused.
CORNEA_API PairList read_pair_list(const std::filesystem::path& file,
                                   const colmap::Database& database);

CORNEA_API MatchAllReport match_all(const Context& context, colmap::Database& database,
                                    const MatchAllOptions& options = {},
                                    const FolderEvents& events = {});

}  // namespace cornea
