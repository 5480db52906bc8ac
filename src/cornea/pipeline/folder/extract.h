// A folder of photographs into the features of a COLMAP database.
//
// Image after image, by name: other threads decode ahead, a bounded number of images; this one
// finds features; another one writes the image, its camera and its features, in one transaction
// (with the place and the direction of gravity by EXIF, where the database has pose priors). So ids
// depend on the names alone, and a run that was stopped, however hard, is continued by the
// next: images with features are left alone. What cannot be read leaves nothing behind.
//
// Of every image the database remembers the folder, the file's size, time of modification and a
// hash of its bytes, the same of its mask, and the options. An image with features whose file, mask
// or options are others now, and one that is no longer in the folder, is noticed and named; so is
// an image of another folder with features of other options, which would be matched with these.
// Only where the size, the time or the folder differ is the file read for this: one that was merely
// copied or touched is no other. Images without such a record, of other programs, are not compared.
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

// SIFT as COLMAP's own extractor sets it: 8,192 points, RootSIFT, at most two angles per point. The
// contrast is Lowe's with COLMAP's factor.
CORNEA_API SiftOptions folder_sift_options();

// Which images share a camera.
enum class CameraSharing {
  // Those whose EXIF says the same make, model and focal length and that have the same size, which
  // is COLMAP's rule; images without these fields have one each.
  automatic,
  single,      // all, which have one size then
  per_folder,  // those of a folder, which have one size then; folders below are others
  per_image
};

struct CORNEA_API ExtractOptions {
  SiftOptions sift = folder_sift_options();
  // An image NAME has its mask in masks/NAME.png, of the same size; no feature lies where it is 0.
  // Images without a mask are taken whole. Empty: no masks. It may lie below the images; what is in
  // it is not taken for images then.
  std::filesystem::path masks = {};
  // Images that are in the database keep their cameras, whatever these say.
  CameraSharing cameras = CameraSharing::automatic;
  std::optional<colmap::CameraModel> camera_model = {};  // unset: SIMPLE_RADIAL
  // By COLMAP's order and coordinates, as many as the model has; they are then marked as known.
  // Empty: a focal length by EXIF, which is marked so, or a guess, which is not; see
  // colmap::camera_of_image.
  std::vector<double> camera_params = {};
  // Longest side in which features are sought, pixels, as in COLMAP; a larger image is reduced to
  // it. Coordinates and cameras are always those of the whole image. 0: any size.
  int max_size = 3200;
  int decoders = 0;  // threads that decode ahead; 0: one on the CPU, up to 8 beside CUDA
  ReadOptions reading = {};
  // Of images that are not what their features were made of. To make them again replaces the
  // features and deletes the image's matches and geometries, in one transaction each; images of
  // other folders are read there. Images that vanished are removed then, with all that is theirs.
  Changed changed = Changed::stop;
  bool redo = false;  // all images of the folder are extracted again, and what changed elsewhere

  void validate() const;
};

struct CORNEA_API ExtractReport {
  int images = 0;              // in the folder
  int ignored = 0;             // FolderListing::ignored
  int skipped = 0;             // had points
  int extracted = 0;           // have them now
  int redone = 0;              // of the extracted: had others before
  int changed = 0;             // of the folder: had features of another file, mask or options
  int vanished = 0;            // had features and are no longer in the folder
  int removed = 0;             // of the vanished: from the database
  int elsewhere = 0;           // of other folders: had features of other options
  int other_cameras = 0;       // of the skipped: their camera is not what the options ask for
  int pose_priors = 0;         // of the extracted: GPS or gravity was written
  int unrecorded = 0;          // of the skipped: nothing is known of how their points were made
  bool stopped = false;        // by FolderEvents::stop, before all was done
  int failed = 0;              // images, and folders that cannot be read
  int masked = 0;              // of the extracted and the skipped: had a mask
  int twelve_bit = 0;          // of the extracted: PixelRange::automatic took them for such
  std::uint64_t features = 0;  // of the extracted images
  double milliseconds = 0;     // the whole call
  // Work, on whatever thread: it overlaps.
  double decode_milliseconds = 0, compute_milliseconds = 0, write_milliseconds = 0;
  // How long the features had to wait for pixels.
  double waiting_milliseconds = 0;
  // Of the work.
  double decode_share() const;
};

// The mask of an image.
CORNEA_API std::filesystem::path mask_of(const std::filesystem::path& masks,
                                         const std::string& name);

struct FolderListing {
  // Paths below the folder, with '/', of the files that end in .jpg, .jpeg, .png, .tif, .tiff or,
  // where the build reads it, .webp (in upper or lower case), sorted by bytes.
  std::vector<std::string> names = {};
  // Likewise of files that are images by their ending and are not taken: formats that are not read
  // here, such as .heic or a camera's raw files, and ._NAME, which macOS writes beside NAME.
  std::vector<std::string> ignored = {};
  std::vector<std::string> unreadable = {};  // a sentence for each folder below that cannot be read
};
// With all folders below but hidden ones, whose names begin with a dot, and `except`, that of the
// masks; links to folders are not followed. An error where the folder itself cannot be read, or is
// that of the masks.
CORNEA_API FolderListing list_images(const std::filesystem::path& folder,
                                     const std::filesystem::path& except = {});

// What cannot be read, or has no features for another reason of its own, is reported as a sentence
// that names it; the rest is done.
CORNEA_API ExtractReport extract_folder(const Context& context, const std::filesystem::path& folder,
                                        colmap::Database& database,
                                        const ExtractOptions& options = {},
                                        const FolderEvents& events = {});

}  // namespace cornea
