// SPDX-License-Identifier: Apache-2.0
// Imports features and matches of other programs into a COLMAP database, so that they get the same
// verification as Cornea's own.
//
// Features are NumPy .npy files, one per image: the points of image NAME are in KEYPOINTS/NAME.npy,
// its descriptors in DESCRIPTORS/NAME.npy.
//
//   points       n x 2 (x, y), n x 4 (x, y, scale, angle) or n x 6 (x, y and an affine frame a11,
//                a12, a21, a22), float32 or float64, in pixels of the full image
//   descriptors  n x 128 uint8: SIFT's, stored as they are; or n x D float32 or float64 of another
//                kind, stored as float32 if the database has a column for their type
//                (colmap::Schema::colmap_4). match_all() matches only SIFT's.
//   matches      by index, as text (io/named_matches.h describes both forms)
//
// All data of an image, or a whole file of matches, is checked before any of it is written, in one
// transaction. Rows that exist already and are equal are left alone, so that an interrupted run is
// continued by the next.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/pipeline/folder/events.h"
#include "cornea/pipeline/folder/extract.h"

namespace cornea {

struct CORNEA_API ImportOptions {
  std::filesystem::path keypoints = {};
  std::filesystem::path descriptors = {};  // empty: none
  // Folder of the photographs of images that are not in the database yet; their cameras are made
  // from image size and EXIF. Empty: all images must be in the database.
  std::filesystem::path images = {};
  // The coordinate of the centre of the first pixel in the files: 0, as in OpenCV, NumPy and most
  // learned features, or 0.5, as in COLMAP.
  double first_pixel = 0;
  // The type of float descriptors, by COLMAP 4's numbers: 1 ALIKED_N16ROT, 2 ALIKED_N32, 3 LOMA_B,
  // 4 LOMA_B128; -1: a type that COLMAP does not know.
  int descriptor_type = -1;
  // For new images, as in ExtractOptions.
  CameraSharing cameras = CameraSharing::automatic;
  std::optional<colmap::CameraModel> camera_model = {};
  std::vector<double> camera_params = {};
  // Replaces differing features, deleting the matches and geometries of their images, and differing
  // matches, deleting their geometries. Otherwise these are failures.
  bool redo = false;

  void validate() const;
};

struct ImportReport {
  int images = 0;                    // images with a file of points
  int imported = 0;                  // have these features now
  int skipped = 0;                   // had them already
  int redone = 0;                    // of the imported: had other features before
  int failed = 0;                    // each reported in a sentence
  std::uint64_t features = 0;        // of the imported
  std::int64_t pairs = 0;            // in the file of matches
  std::int64_t matched = 0;          // have these matches now
  std::int64_t matched_skipped = 0;  // had them already
  std::int64_t matched_redone = 0;   // of the matched: had other matches before
  std::uint64_t matches = 0;         // of the matched pairs
  bool stopped = false;              // by FolderEvents::stop, before all was done
  double milliseconds = 0;           // the whole call
};

// The images for which a folder has a file NAME.npy, sorted by bytes; an error if there are none.
CORNEA_API std::vector<std::string> images_with_points(const std::filesystem::path& folder);

// An image whose files are invalid, or that is not known, is reported in a sentence, and the others
// are imported. Descriptors of an image without a file of points are reported too.
CORNEA_API ImportReport import_features(colmap::Database& database, const ImportOptions& options,
                                        const FolderEvents& events = {});

// An invalid match is an error that names its line; nothing is written then. `name` stands for the
// stream in error sentences.
CORNEA_API ImportReport import_matches(colmap::Database& database, std::istream& in,
                                       const std::string& name, bool redo = false);

}  // namespace cornea
