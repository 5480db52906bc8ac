// The images of a COLMAP database matched with one another.
//
// Images go in blocks whose descriptors have room in memory; block is matched with block, many
// pairs a call. Pairs that have a row of matches, be it an empty one, are left alone, so that a run
// that was stopped is continued by the next. What a pair gets does not depend on what else is
// matched. Matches that join the same two places (points of several orientations) are one row.
//
// The database remembers the options that matches were made with. Images whose rows cannot be
// (impossible ids, descriptors that are not SIFT's) are named and left out.
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
  // Which pairs: each image with the N after it in the order of names; those listed; or all.
  int sequential = 0;                         // N; 0: not sequential
  std::vector<colmap::ImagePair> pairs = {};  // if `listed`, by image id, in any order
  bool listed = false;
  std::size_t block_bytes = std::size_t{64} << 20;  // descriptors of a block of images
  // Of pairs that have matches of other options; and all of the pairs again, whatever they have.
  // Their matches and geometries are deleted first, in one transaction: where the run is stopped
  // then, another one without redo goes on.
  Changed changed = Changed::stop;
  bool redo = false;

  void validate() const;
};

struct MatchAllReport {
  int images = 0;                // with features
  std::int64_t pairs = 0;        // asked for
  std::int64_t skipped = 0;      // had matches
  std::int64_t matched = 0;      // have them now
  std::int64_t missing = 0;      // of the listed: an image has no features
  std::int64_t redone = 0;       // of the pairs: had matches, which were deleted
  int bad_images = 0;            // left out, each with a sentence
  bool stopped = false;          // by FolderEvents::stop, before all was done
  std::int64_t images_read = 0;  // whose descriptors were read, each as often as it was
  std::uint64_t matches = 0;     // of the matched pairs
  double milliseconds = 0;       // the whole call
  double compute_milliseconds = 0, read_milliseconds = 0, write_milliseconds = 0;
};

// Two names per line, separated by white space; names may hold spaces themselves where only one way
// to part them gives two images. Empty lines and lines that begin with # are passed over.
struct PairList {
  std::vector<colmap::ImagePair> pairs = {};
  std::vector<std::string> refused = {};  // a sentence for each line that does not name two images
};
// An error where the file cannot be read or every line is refused.
CORNEA_API PairList read_pair_list(const std::filesystem::path& file,
                                   const colmap::Database& database);

CORNEA_API MatchAllReport match_all(const Context& context, colmap::Database& database,
                                    const MatchAllOptions& options = {},
                                    const FolderEvents& events = {});

}  // namespace cornea
