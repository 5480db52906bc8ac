// The geometry of every matched pair of a COLMAP database.
//
// Each pair gets one of COLMAP's configurations (geometry/two_view/two_view.h) with what holds for
// it: CALIBRATED E, F and the pose; UNCALIBRATED F; PLANAR H, E and the pose; PANORAMIC H and the
// rotation; PLANAR_OR_PANORAMIC H; WATERMARK what the pair would have otherwise. A pair with fewer
// than `min_inliers` is DEGENERATE and holds nothing. The inliers are the rows; matches that join
// the same two places count once and are written once. Pairs that have a row are left alone.
//
// Cameras: as in COLMAP, E is estimated where both cameras have a focal length that is known
// (prior_focal_length). A pair with a guessed one, and one of a camera whose model is not read
// (export/colmap/intrinsics.h), is verified without cameras and counted.
//
// The random samples of a pair are keyed by its id, so that its result does not depend on what
// else is verified, when, or on which device.
//
// Pairs that cannot be (matches of points that are not there, positions that are no numbers, blobs
// of a wrong length) are named by their images and left out, without a row. The database remembers
// the options that geometries were made with.
#pragma once

#include <array>
#include <cstdint>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/geometry/two_view/two_view.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea {

// The thresholds of F and E are chosen per pair, and each of F, E and H has at most 10,000
// hypotheses.
CORNEA_API TwoViewOptions folder_two_view_options();

struct CORNEA_API VerifyOptions {
  TwoViewOptions two_view = folder_two_view_options();
  int min_inliers = 15;          // COLMAP's
  bool use_cameras = true;       // of the database, where their focal lengths are known
  bool detect_watermark = true;  // geometry/two_view/watermark.h
  // Of pairs that have a geometry of other options; and all pairs with matches again. Their
  // geometries are deleted first, in one transaction: where the run is stopped then, another one
  // without redo goes on.
  Changed changed = Changed::stop;
  bool redo = false;

  void validate() const;
};

struct CORNEA_API VerifyReport {
  std::int64_t pairs = 0;    // with matches
  std::int64_t skipped = 0;  // had a geometry
  std::int64_t missing = 0;  // of images that are not in the database
  std::int64_t redone = 0;   // had a geometry, which was deleted
  std::int64_t bad = 0;      // left out, each with a sentence
  int bad_images = 0;        // have impossible ids; each with a sentence
  int bad_cameras = 0;       // have parameters that cannot be; likewise
  bool stopped = false;      // by FolderEvents::stop, before all was done
  // Pairs that were verified now, by the number of their configuration; and some of them together.
  std::array<std::int64_t, 8> configurations{};
  std::int64_t of(Configuration kind) const { return configurations[std::size_t(kind)]; }
  std::int64_t general() const;  // E or F
  std::int64_t planar() const;   // H: a plane, a camera that only rotated, or either
  std::int64_t done() const;     // all
  // Of these, with `use_cameras`: by E as well, and without, for a focal length that is a guess or
  // for a camera that is not read.
  std::int64_t with_cameras = 0, guessed_cameras = 0, unread_cameras = 0;
  std::uint64_t inliers = 0;
  double milliseconds = 0;  // the whole call
  double compute_milliseconds = 0, read_milliseconds = 0, write_milliseconds = 0;
};

CORNEA_API VerifyReport verify_all(const Context& context, colmap::Database& database,
                                   const VerifyOptions& options = {},
                                   const FolderEvents& events = {});

}  // namespace cornea
