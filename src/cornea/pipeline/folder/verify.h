// SPDX-License-Identifier: Apache-2.0
// Estimates the geometry of every matched pair of a COLMAP database.
//
// Each pair gets one of COLMAP's configurations (geometry/two_view/two_view.h) with the models that
// are valid for it: CALIBRATED has E, F and the pose; UNCALIBRATED F; PLANAR H, E and the pose;
// PANORAMIC H and the rotation; PLANAR_OR_PANORAMIC H; WATERMARK those that the pair would have
// otherwise. The row of a pair also holds its inlier matches; several matches between the same two
// positions count as one and are written once. A pair with fewer than `min_inliers` is DEGENERATE,
// without model or matches. Pairs that have a row are skipped.
//
// Cameras: as in COLMAP, E is estimated if both cameras have a known focal length
// (prior_focal_length). A pair with a guessed focal length or an unsupported camera model
// (export/colmap/intrinsics.h) is verified without cameras and counted.
//
// The random samples of a pair are keyed by its id, so its result does not depend on what else is
// verified, when, or on which device.
//
// Invalid pairs (matches of points that do not exist, positions that are not finite, blobs of a
// wrong length) are reported with the names of their images and left out, without a row. The
// database records the options that geometries were made with.
#pragma once

#include <array>
#include <cstdint>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/geometry/two_view/two_view.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea {

// The thresholds of F and E are chosen per pair, and F, E and H are limited to 10,000 hypotheses
// each.
CORNEA_API TwoViewOptions folder_two_view_options();

struct CORNEA_API VerifyOptions {
  TwoViewOptions two_view = folder_two_view_options();
  int min_inliers = 15;          // as in COLMAP
  bool use_cameras = true;       // use the database's cameras if their focal lengths are known
  bool detect_watermark = true;  // geometry/two_view/watermark.h
  // `changed` applies to pairs whose geometry was made with other options; `redo` verifies all
  // pairs with matches again. Old geometries are deleted first, in one transaction; if the run is
  // then stopped, a run without redo continues it.
  Changed changed = Changed::stop;
  bool redo = false;

  void validate() const;
};

struct CORNEA_API VerifyReport {
  std::int64_t pairs = 0;    // with matches
  std::int64_t skipped = 0;  // had a geometry already
  std::int64_t missing = 0;  // whose id does not name two images, the lower id first
  std::int64_t redone = 0;   // had a geometry, which was deleted
  std::int64_t bad = 0;      // left out, each reported in a sentence
  int bad_images = 0;        // with impossible ids, each reported in a sentence
  int bad_cameras = 0;       // with invalid parameters, each reported in a sentence
  bool stopped = false;      // by FolderEvents::stop, before all was done
  // Number of pairs verified by this call, by configuration; and sums of several configurations.
  std::array<std::int64_t, 8> configurations{};
  std::int64_t of(Configuration kind) const { return configurations[std::size_t(kind)]; }
  std::int64_t general() const;  // E or F
  std::int64_t planar() const;   // H: a plane, a camera that only rotated, or either
  std::int64_t done() const;     // all
  // Of these pairs, if `use_cameras`: E was estimated too; a focal length was guessed; a camera is
  // missing, invalid or of an unsupported model.
  std::int64_t with_cameras = 0, guessed_cameras = 0, unread_cameras = 0;
  std::uint64_t inliers = 0;
  double milliseconds = 0;  // the whole call
  double compute_milliseconds = 0, read_milliseconds = 0, write_milliseconds = 0;
};

CORNEA_API VerifyReport verify_all(const Context& context, colmap::Database& database,
                                   const VerifyOptions& options = {},
                                   const FolderEvents& events = {});

}  // namespace cornea
