// SPDX-License-Identifier: Apache-2.0
// Extracts the features of a folder of photographs into a COLMAP database.
//
// Images are processed in the order of their names. Decoder threads read a bounded number of images
// ahead, the calling thread computes features, and a writer thread stores each image with its
// camera and features in one transaction (with the GPS position and direction of gravity from EXIF
// if the database has pose priors). So ids depend on the names alone, and an interrupted run, even
// a killed one, is continued by the next: images with features are skipped. An image that cannot be
// read leaves nothing behind.
//
// For every image the database records the folder, the file's size, time of modification and a hash
// of its bytes, the same for its mask, and the options. An image is reported if its file, mask or
// options have changed since its features were extracted, or if it is no longer in the folder; so
// is an image of another folder whose features were extracted with other options, because it would
// be matched with these. A file is read again for this comparison only if its size, time or folder
// differ; one that was merely copied or touched does not count as changed. Images without such a
// record, written by other programs, are not compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/describe/sift/sift.h"
#include "cornea/export/colmap/database.h"
#include "cornea/io/image_file.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea {

// SIFT with the settings of COLMAP's extractor: 8,192 points, RootSIFT, at most two orientations
// per point. The contrast threshold is Lowe's with COLMAP's factor.
CORNEA_API SiftOptions folder_sift_options();

// Which images share a camera.
enum class CameraSharing {
  // Images with the same EXIF make, model and focal length and the same size, which is COLMAP's
  // rule. An image without these fields has a camera of its own.
  automatic,
  single,  // all images, which must have the same size
  // those of a folder, which must have the same size; subfolders count as other folders
  per_folder,
  per_image
};

struct CORNEA_API ExtractOptions {
  SiftOptions sift = folder_sift_options();
  // The mask of an image NAME is masks/NAME.png, of the same size; no feature lies where it is 0.
  // Images without a mask are used whole. Empty: no masks. The folder may be a subfolder of the
  // images; its files are then not taken for images.
  std::filesystem::path masks = {};
  // Images that are already in the database keep their cameras, whatever these options say.
  CameraSharing cameras = CameraSharing::automatic;
  std::optional<colmap::CameraModel> camera_model = {};  // unset: SIMPLE_RADIAL
  // In COLMAP's order and coordinates, as many as the model has; they are then marked as known.
  // Empty: a focal length from EXIF, which is marked as known, or a guess, which is not; see
  // colmap::camera_of_image.
  std::vector<double> camera_params = {};
  // Longest side for feature extraction, pixels, as in COLMAP; a larger image is reduced to it.
  // Coordinates and cameras always refer to the full image. 0: any size.
  int max_size = 3200;
  int decoders = 0;  // threads that decode ahead; 0: one on the CPU, up to 8 with CUDA
  ReadOptions reading = {};
  // What to do with images that changed since their features were extracted. Redo replaces the
  // features and deletes the image's matches and geometries, in one transaction per image; images
  // of other folders are read from there. Redo also removes vanished images with all their rows.
  Changed changed = Changed::stop;
  bool redo = false;  // extract all images of the folder again, and those that changed elsewhere

  void validate() const;
  void validate_masks() const;  // whether there is such a folder
};

struct CORNEA_API ExtractReport {
  int images = 0;              // in the folder
  int ignored = 0;             // FolderListing::ignored
  int skipped = 0;             // had features already
  int extracted = 0;           // have features now
  int redone = 0;              // of the extracted: had other features before
  int changed = 0;             // of the folder: file, mask or options had changed
  int vanished = 0;            // had features and are no longer in the folder
  int removed = 0;             // of the vanished: removed from the database
  int elsewhere = 0;           // of other folders: have features of other options
  int other_cameras = 0;       // of the skipped: their camera differs from what the options ask for
  int pose_priors = 0;         // of the extracted: GPS position or gravity was written
  int unrecorded = 0;          // of the skipped: without a record of how their features were made
  bool stopped = false;        // by FolderEvents::stop, before all was done
  int failed = 0;              // images, and folders that cannot be read
  int masked = 0;              // of the extracted and the skipped: had a mask
  int twelve_bit = 0;          // of the extracted: recognised as 12-bit by PixelRange::automatic
  std::uint64_t features = 0;  // of the extracted images
  double milliseconds = 0;     // the whole call
  // Time spent on each kind of work, summed over threads; they overlap.
  double decode_milliseconds = 0, compute_milliseconds = 0, write_milliseconds = 0;
  // How long feature extraction waited for decoded images.
  double waiting_milliseconds = 0;
  // The share of decoding in the total work.
  double decode_share() const;
};

// The path of an image's mask.
CORNEA_API std::filesystem::path mask_of(const std::filesystem::path& masks,
                                         const std::string& name);

struct FolderListing {
  // Paths relative to the folder, with '/', of the files that end in .jpg, .jpeg, .png, .tif, .tiff
  // or, if the build reads it, .webp (upper or lower case), sorted by bytes.
  std::vector<std::string> names = {};
  // Files that are images by their ending but are not used: unsupported formats, such as .heic or
  // camera raw files, and ._NAME, which macOS writes beside NAME.
  std::vector<std::string> ignored = {};
  std::vector<std::string> unreadable = {};  // one sentence for each subfolder that cannot be read
};
// Includes all subfolders except hidden ones, whose names begin with a dot, and `except`, the
// folder of masks; links to folders are not followed. An error if the folder itself cannot be read
// or is the folder of masks.
CORNEA_API FolderListing list_images(const std::filesystem::path& folder,
                                     const std::filesystem::path& except = {});

// An image that cannot be read, or fails for another reason of its own, is reported in a sentence
// that names it; the others are processed.
CORNEA_API ExtractReport extract_folder(const Context& context, const std::filesystem::path& folder,
                                        colmap::Database& database,
                                        const ExtractOptions& options = {},
                                        const FolderEvents& events = {});

}  // namespace cornea
