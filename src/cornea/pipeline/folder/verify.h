// The geometry of every matched pair of a COLMAP database.
//
// Where F explains at least `min_inliers` matches the pair is UNCALIBRATED and holds F; where a
// homography does so it is PLANAR_OR_PANORAMIC and holds H; otherwise it is DEGENERATE and holds
// nothing. The inliers are the rows; matches that join the same two places count once and are
// written once. Pairs that have a row are left alone.
//
// The random samples of a pair are keyed by its two ids, so that its result does not depend on what
// else is verified, when, or on which device.
//
// Pairs that cannot be (matches of points that are not there, positions that are no numbers, blobs
// of a wrong length) are named by their images and left out, without a row. The database remembers
// the options that geometries were made with.
#pragma once

#include <cstdint>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea {

// A threshold for photographs as they are, whose lenses bend lines a little: 4 pixels, both
// distances together; and at most 10,000 hypotheses.
CORNEA_API FundamentalOptions folder_fundamental_options();

struct CORNEA_API VerifyOptions {
  FundamentalOptions fundamental = folder_fundamental_options();
  int min_inliers = 15;  // COLMAP's
  // Of pairs that have a geometry of other options; and all pairs with matches again. Their
  // geometries are deleted first, in one transaction: where the run is stopped then, another one
  // without redo goes on.
  Changed changed = Changed::stop;
  bool redo = false;

  void validate() const;
};

struct VerifyReport {
  std::int64_t pairs = 0;    // with matches
  std::int64_t skipped = 0;  // had a geometry
  std::int64_t missing = 0;  // of images that are not in the database
  std::int64_t redone = 0;   // had a geometry, which was deleted
  std::int64_t bad = 0;      // left out, each with a sentence
  int bad_images = 0;        // have impossible ids; each with a sentence
  bool stopped = false;      // by FolderEvents::stop, before all was done
  std::int64_t general = 0, planar = 0, degenerate = 0;
  std::uint64_t inliers = 0;
  double milliseconds = 0;  // the whole call
  double compute_milliseconds = 0, read_milliseconds = 0, write_milliseconds = 0;
};

CORNEA_API VerifyReport verify_all(const Context& context, colmap::Database& database,
                                   const VerifyOptions& options = {},
                                   const FolderEvents& events = {});

}  // namespace cornea
