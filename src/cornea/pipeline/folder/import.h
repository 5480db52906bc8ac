// Features and matches of other programs into a COLMAP database, so that they get the same
// verification as Cornea's own.
//
// Features are NumPy's .npy files, one per image: image NAME has its points in KEYPOINTS/NAME.npy
// and its descriptors in DESCRIPTORS/NAME.npy.
//
//   points       n x 2 (x, y), n x 4 (and scale, angle) or n x 6 (x, y and a frame a11, a12, a21,
//                a22), float32 or float64, pixels of the whole image
//   descriptors  n x 128 uint8: SIFT's, stored as they are; or n x D float32 or float64 of another
//                kind, stored as float32 where the database says of what type they are
//                (colmap::Schema::colmap_4). match_all() matches SIFT's alone.
//   matches      by index, as text (io/named_matches.h describes both forms)
//
// All of an image, or all of a file of matches, is checked before anything of it is written, in one
// transaction. What is there already and equal is left alone, so that a run that was stopped is
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
  // Photographs of images that are not in the database yet, whose sizes and EXIF make their
  // cameras. Empty: all images must be there.
  std::filesystem::path images = {};
  // Coordinates that the centre of the first pixel has in the files: 0, as in OpenCV, NumPy and
  // most learned features, or 0.5, as in COLMAP.
  double first_pixel = 0;
  // What descriptors that are floats are, by COLMAP 4's numbers: 1 ALIKED_N16ROT, 2 ALIKED_N32, 3
  // LOMA_B, 4 LOMA_B128; -1: of a kind that COLMAP does not know.
  int descriptor_type = -1;
  // Of new images, as in ExtractOptions.
  CameraSharing cameras = CameraSharing::automatic;
  std::optional<colmap::CameraModel> camera_model = {};
  std::vector<double> camera_params = {};
  // Replaces other features, with the matches and geometries of their images, and other matches,
  // with their geometries. Otherwise these are failures.
  bool redo = false;

  void validate() const;
};

struct ImportReport {
  int images = 0;                    // with a file of points
  int imported = 0;                  // have these features now
  int skipped = 0;                   // had them
  int redone = 0;                    // of the imported: had others before
  int failed = 0;                    // each with a sentence
  std::uint64_t features = 0;        // of the imported
  std::int64_t pairs = 0;            // in the file of matches
  std::int64_t matched = 0;          // have these matches now
  std::int64_t matched_skipped = 0;  // had them
  std::int64_t matched_redone = 0;   // of the matched: had others before
  std::uint64_t matches = 0;         // of the matched pairs
  bool stopped = false;              // by FolderEvents::stop, before all was done
  double milliseconds = 0;           // the whole call
};

// The images that a folder has a file NAME.npy for, sorted by bytes; an error where there are none.
CORNEA_API std::vector<std::string> images_with_points(const std::filesystem::path& folder);

// An image whose files cannot be, or are not of an image that is known, is reported as a sentence;
// the rest is done. So are descriptors of an image without a file of points.
CORNEA_API ImportReport import_features(colmap::Database& database, const ImportOptions& options,
                                        const FolderEvents& events = {});

// An error that names the line where one match cannot be; nothing is written then. `name` stands
// for the stream in sentences.
CORNEA_API ImportReport import_matches(colmap::Database& database, std::istream& in,
                                       const std::string& name, bool redo = false);

}  // namespace cornea
