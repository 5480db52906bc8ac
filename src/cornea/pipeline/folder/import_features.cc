// SPDX-License-Identifier: Apache-2.0
// import_features of import.h.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "cornea/core/error.h"
#include "cornea/core/naming.h"
#include "cornea/core/stopwatch.h"
#include "cornea/export/colmap/camera.h"
#include "cornea/io/npy.h"
#include "cornea/pipeline/folder/camera_groups.h"
#include "cornea/pipeline/folder/import.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;
using namespace folder;
using colmap::Camera;
using colmap::Database;
using colmap::ForeignFeatures;
using colmap::Id;

constexpr char kEnding[] = ".npy";
constexpr int kSift = 0;
constexpr int kLastType = 4;  // the highest feature type of COLMAP 4.2.1

// The names of the .npy files of a folder, without .npy, sorted by bytes.
std::vector<std::string> names_in(const fs::path& folder, const char* holds) {
  std::vector<std::string> names;
  std::error_code failed;
  if (!fs::is_directory(folder, failed)) {
    fail(ErrorCode::io, folder.string(), ": is not a folder; name one with the ", holds,
         " of image NAME in NAME.npy");
  }
  auto it = fs::recursive_directory_iterator(folder, failed);
  for (; !failed && it != fs::recursive_directory_iterator(); it.increment(failed)) {
    std::error_code ignored;
    const std::string name = it->path().lexically_relative(folder).generic_string();
    if (name.ends_with(kEnding) && it->is_regular_file(ignored)) {
      names.push_back(name.substr(0, name.size() - std::strlen(kEnding)));
    }
  }
  if (failed) fail(ErrorCode::io, folder.string(), ": cannot be read (", failed.message(), ")");
  std::sort(names.begin(), names.end());
  return names;
}

// Reads the points of an image of this size and rejects columns that cannot be what they should be.
void read_points(const fs::path& file, double first_pixel, const Camera& camera,
                 ForeignFeatures& features) {
  const io::NpyTable table = io::read_npy(file);
  auto refuse = [&](const auto&... parts) { fail(ErrorCode::io, file.string(), ": ", parts...); };
  if (table.is_bytes || (table.columns != 2 && table.columns != 4 && table.columns != 6)) {
    refuse("holds ", table.rows, " x ", table.columns, table.is_bytes ? " bytes" : " numbers",
           "; points are n x 2 (x, y), n x 4 (scale, angle) or n x 6 (a frame) of float32 or "
           "float64");
  }
  if (table.rows > std::size_t(std::numeric_limits<int>::max())) refuse("holds too many points");
  features.columns = int(table.columns);
  features.keypoints = table.floats;
  const double shift = 0.5 - first_pixel;
  for (std::size_t i = 0; i < table.rows; ++i) {
    float* row = features.keypoints.data() + i * table.columns;
    const double x = row[0] + shift, y = row[1] + shift;
    // The area covered by the pixels extends half a pixel beyond the outermost pixel centres.
    const bool is_sized = camera.width > 0 && camera.height > 0;
    if (is_sized && (x < 0 || y < 0 || x > camera.width || y > camera.height)) {
      refuse("point ", i, " is at (", row[0], ", ", row[1], "), outside of the image of ",
             camera.width, " x ", camera.height,
             " pixels; points are in pixels of the full image, and first_pixel is the coordinate "
             "of its first pixel");
    }
    if (table.columns == 4 && row[2] <= 0) {
      refuse("point ", i, " has the scale ", row[2], "; the columns are x, y, scale, angle");
    }
    if (table.columns == 6 && row[2] * row[5] == row[3] * row[4]) {
      refuse("point ", i, " has a singular frame; the columns are x, y, a11, a12, a21, a22");
    }
    row[0] = float(x);
    row[1] = float(y);
  }
}

void read_described(const fs::path& file, int type, ForeignFeatures& features) {
  const io::NpyTable table = io::read_npy(file);
  auto refuse = [&](const auto&... parts) { fail(ErrorCode::io, file.string(), ": ", parts...); };
  if (table.rows != features.size()) {
    refuse("holds ", table.rows, " descriptors for ", features.size(), " points");
  }
  if (table.is_bytes) {
    if (table.columns != Features::kLength) {
      refuse("holds descriptors of ", table.columns, " bytes; SIFT's have 128, others are floats");
    }
    features.descriptor_type = kSift;
    features.descriptor_bytes = Features::kLength;
    features.descriptors = table.bytes;
    return;
  }
  constexpr std::size_t kMostColumns = 65536;
  if (table.columns == 0 || table.columns > kMostColumns) {
    refuse("holds descriptors of ", table.columns, " numbers; they have 1 to ", kMostColumns);
  }
  features.descriptor_type = type;
  features.descriptor_bytes = int(table.columns * sizeof(float));
  features.descriptors.resize(table.floats.size() * sizeof(float));
  if (!table.floats.empty()) {
    std::memcpy(features.descriptors.data(), table.floats.data(), features.descriptors.size());
  }
}

class FeatureImport {
 public:
  FeatureImport(Database& database, const ImportOptions& options, const FolderEvents& events)
      : database_(database),
        options_(options),
        events_(events),
        names_(images_with_points(options.keypoints)),
        sharing_{.cameras = options.cameras,
                 .camera_model = options.camera_model,
                 .camera_params = options.camera_params},
        groups_(sharing_, names_) {}

  ImportReport run() {
    const core::Stopwatch watch;
    report_.images = int(names_.size());
    name_descriptors_without_points();
    const std::int64_t version = database_.data_version();
    groups_.load(database_);
    CameraWriter cameras(groups_, version);
    for (const Camera& camera : database_.cameras()) cameras_[camera.id] = camera;
    for (const colmap::ImageRow& row : database_.images()) rows_[row.name] = row;
    events_.begin(report_.images);
    for (const std::string& name : names_) {
      report_.stopped = events_.stop();
      if (report_.stopped) break;
      std::optional<Prepared> prepared;
      try {
        prepared = prepare(name);
      } catch (const std::exception& error) {
        fail_one(name, error.what());
      }
      // An error while writing to the database ends the run.
      if (prepared) write(*prepared, cameras);
      events_.advance(1);
    }
    report_.milliseconds = watch.milliseconds();
    return report_;
  }

 private:
  void fail_one(const std::string& name, const std::string& sentence) {
    ++report_.failed;
    events_.report(core::naming(name, sentence));
  }

  // Descriptors without points are reported, because they were meant to be imported.
  void name_descriptors_without_points() {
    if (options_.descriptors.empty()) return;
    for (const std::string& name : names_in(options_.descriptors, "descriptors")) {
      if (std::binary_search(names_.begin(), names_.end(), name)) continue;
      fail_one(name, text((options_.descriptors / (name + kEnding)).string(),
                          ": has no file of points beside it, ",
                          (options_.keypoints / (name + kEnding)).string()));
    }
  }

  // All data of an image, checked.
  struct Prepared {
    std::string name = {};
    Id image = kNoImage;  // its row in the database, if it has one
    Camera camera = {};
    std::string group = {};
    colmap::PosePrior prior = {};
    ForeignFeatures features = {};
  };

  Prepared prepare(const std::string& name) {
    Prepared made{.name = name};
    const auto row = rows_.find(name);
    if (row == rows_.end()) {
      const Photograph photograph = read_new(name);
      made.group = groups_.group_of(name, photograph);
      made.camera = groups_.camera_for({.name = name}, photograph, made.group);
      made.prior = colmap::pose_prior_of(photograph.exif);
    } else {
      made.image = row->second.id;
      made.camera = cameras_[row->second.camera];
    }
    read_points(options_.keypoints / (name + kEnding), options_.first_pixel, made.camera,
                made.features);
    if (!options_.descriptors.empty()) {
      read_described(options_.descriptors / (name + kEnding), options_.descriptor_type,
                     made.features);
      if (made.features.descriptor_type != kSift && !database_.says_type_of_descriptors()) {
        fail(ErrorCode::io, database_.file(),
             ": has no column for the type of descriptors, and these are not SIFT's; leave them "
             "out, or begin a new database with schema = 4");
      }
    }
    return made;
  }

  void write(const Prepared& made, CameraWriter& cameras) {
    Database::Transaction transaction(database_);
    cameras.begin();
    // Another run may have added the image since.
    Id image = made.image;
    if (image == kNoImage) image = database_.image_named(made.name).value_or(kNoImage);
    if (image == kNoImage) {
      image = database_.add_image(made.name,
                                  cameras.camera_of(database_, made.name, made.group, made.camera));
      database_.write_pose_prior(image, made.prior);
    } else if (database_.has_features(image, made.features)) {
      ++report_.skipped;
      return;
    }
    const bool again = database_.has_points(image);
    if (again && !options_.redo) {
      return fail_one(made.name, text(database_.file(),
                                      ": already has other features of this image; the option redo "
                                      "replaces them and deletes its matches"));
    }
    if (again) database_.delete_pairs_of(image);
    database_.write_foreign_features(image, made.features);
    transaction.commit();
    cameras.committed();
    if (made.image == kNoImage) groups_.take(made.group, made.camera);
    ++report_.imported;
    report_.redone += again;
    report_.features += made.features.size();
  }

  // Reads a photograph that is not in the database yet.
  Photograph read_new(const std::string& name) const {
    if (options_.images.empty()) {
      fail(ErrorCode::io, database_.file(),
           ": has no image of this name (a path relative to the folder of images); the option "
           "images names that folder and adds its images");
    }
    const fs::path file = options_.images / name;
    if (!fs::exists(file)) {
      fail(ErrorCode::io, file.string(),
           ": there is no such photograph, and no image of this name in the database");
    }
    return read_photograph(file);
  }

  Database& database_;
  const ImportOptions& options_;
  const FolderEvents& events_;
  const std::vector<std::string> names_;
  const ExtractOptions sharing_;
  CameraGroups groups_;
  std::unordered_map<Id, Camera> cameras_;
  std::unordered_map<std::string, colmap::ImageRow> rows_;
  ImportReport report_;
};

}  // namespace

void ImportOptions::validate() const {
  require(first_pixel == 0 || first_pixel == 0.5, "first_pixel must be 0 or 0.5, not ",
          first_pixel);
  require(descriptor_type >= -1 && descriptor_type <= kLastType && descriptor_type != kSift,
          "descriptor_type must be -1 or 1 to ", kLastType, ", not ", descriptor_type);
  require(descriptors.empty() || !keypoints.empty(), "descriptors need keypoints");
  ExtractOptions{.cameras = cameras, .camera_model = camera_model, .camera_params = camera_params}
      .validate();
}

std::vector<std::string> images_with_points(const fs::path& folder) {
  std::vector<std::string> names = names_in(folder, "points");
  if (names.empty()) {
    fail(ErrorCode::io, folder.string(),
         ": holds no .npy file; the points of image NAME are in NAME.npy");
  }
  return names;
}

ImportReport import_features(Database& database, const ImportOptions& options,
                             const FolderEvents& events) {
  options.validate();
  return FeatureImport(database, options, events).run();
}

}  // namespace cornea
