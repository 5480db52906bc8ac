// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/camera_groups.h"

#include <map>
#include <set>

#include "cornea/catalog/options_table.h"
#include "cornea/core/error.h"
#include "cornea/export/colmap/camera.h"
#include "cornea/export/colmap/intrinsics.h"

namespace cornea::folder {
namespace {

using colmap::Camera;
using colmap::Database;
using colmap::Id;
using colmap::ImageRow;

constexpr char kSingle[] = "single";

// "a/b/c.jpg" gives "a/b/", "c.jpg" gives "./": never empty.
std::string folder_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? "./" : name.substr(0, slash + 1);
}

}  // namespace

CameraGroups::CameraGroups(const ExtractOptions& options, const std::vector<std::string>& names)
    : options_(options), names_(names.begin(), names.end()) {}

std::string CameraGroups::group_of(const std::string& name, const Photograph& photograph) const {
  switch (options_.cameras) {
    case CameraSharing::single:
      return kSingle;
    case CameraSharing::per_folder:
      return folder_of(name);
    case CameraSharing::per_image:
      return "";
    case CameraSharing::automatic:
      break;
  }
  std::string words =
      colmap::camera_words(photograph.image.width(), photograph.image.height(), photograph.exif);
  if (words.empty()) return "";
  // The group depends on the kind of camera, because another run may ask for cameras of another
  // kind.
  const Camera camera = camera_of(photograph);
  words += text("\n", colmap::name_of_model(camera.model));
  for (const double value : options_.camera_params) words += " " + catalog::exact_text(value);
  return words;
}

Camera CameraGroups::camera_of(const Photograph& photograph) const {
  const int width = photograph.image.width(), height = photograph.image.height();
  const colmap::CameraModel model =
      options_.camera_model.value_or(colmap::CameraModel::simple_radial);
  Camera camera = colmap::camera_of_image(width, height, photograph.exif, model);
  if (options_.camera_params.empty()) return camera;
  camera.params = options_.camera_params;
  camera.prior_focal_length = true;
  const Intrinsics made = colmap::intrinsics_of(camera).value();
  if (made.cx < -0.5 || made.cy < -0.5 || made.cx > width - 0.5 || made.cy > height - 0.5) {
    fail(ErrorCode::io, "has ", width, " x ", height,
         " pixels, and the principal point of camera_params is outside of the image; give the "
         "parameters of images of this size, and extract images of other sizes without them");
  }
  return camera;
}

bool CameraGroups::is_as_asked(const Camera& camera) const {
  if (options_.camera_model && camera.model != int(*options_.camera_model)) return false;
  return options_.camera_params.empty() || camera.params == options_.camera_params;
}

std::unordered_map<std::string, Camera> CameraGroups::in_database(const Database& database) const {
  std::unordered_map<std::string, Camera> groups;
  if (options_.cameras == CameraSharing::per_image) return groups;
  // Read images before cameras, so that the camera of an image that another run has just written is
  // included.
  std::vector<ImageRow> images;
  if (options_.cameras == CameraSharing::per_folder) images = database.images();
  std::unordered_map<Id, Camera> cameras;
  for (const Camera& camera : database.cameras()) cameras[camera.id] = camera;
  if (options_.cameras == CameraSharing::automatic) {
    for (const auto& [group, id] : database.camera_groups()) groups[group] = cameras[id];
    return groups;
  }
  if (options_.cameras == CameraSharing::single) {
    if (cameras.empty()) return groups;
    if (cameras.size() > 1) {
      fail(ErrorCode::invalid_argument, database.file(), ": has ", cameras.size(),
           " cameras; ask for cameras = auto, or begin a new database");
    }
    const Camera& only = cameras.begin()->second;
    if (!is_as_asked(only)) {
      fail(ErrorCode::invalid_argument, database.file(), ": its camera has the model ",
           colmap::name_of_model(only.model),
           " or parameters other than camera_model and camera_params; leave these out, or begin a "
           "new database");
    }
    groups[kSingle] = only;
    return groups;
  }
  // Cameras used by images of only one folder; if a folder has several, the first.
  std::map<Id, std::set<std::string>> folders;
  for (const ImageRow& row : images) folders[row.camera].insert(folder_of(row.name));
  for (const ImageRow& row : images) {
    const auto camera = cameras.find(row.camera);
    if (!names_.contains(row.name) || folders[row.camera].size() != 1 || camera == cameras.end() ||
        !is_as_asked(camera->second)) {
      continue;
    }
    groups.emplace(folder_of(row.name), camera->second);
  }
  return groups;
}

void CameraGroups::remember(Database& database, const std::string& group, Id camera) const {
  if (options_.cameras == CameraSharing::automatic && !group.empty()) {
    database.write_camera_group(camera, group);
  }
}

std::string CameraGroups::name_of_camera() const {
  return options_.cameras == CameraSharing::per_folder ? "the camera of its folder"
                                                       : "the single camera";
}

void CameraGroups::load(const Database& database) { known_ = in_database(database); }

Camera CameraGroups::camera_for(const Pending& pending, const Photograph& photograph,
                                const std::string& group) const {
  const int width = photograph.image.width(), height = photograph.image.height();
  auto require_size = [&](const Camera& camera, const std::string& which, const char* remedy) {
    if (width == camera.width && height == camera.height) return;
    fail(ErrorCode::io, "has ", width, " x ", height, " pixels, but ", which, " has ", camera.width,
         " x ", camera.height, "; ", remedy);
  };
  if (pending.image != kNoImage) {
    const Camera& own = pending.camera;
    if (own.width == width && own.height == height) return {};
    if (pending.again && !pending.shares && options_.cameras != CameraSharing::single) {
      Camera other = camera_of(photograph);
      other.id = own.id;
      return other;
    }
    require_size(own, "its camera in the database",
                 "give the file another name, so that it gets a camera of its own");
  }
  const auto shared = known_.find(group);
  if (group.empty() || shared == known_.end()) return camera_of(photograph);
  require_size(shared->second, name_of_camera(),
               options_.cameras == CameraSharing::per_folder
                   ? "move it into a folder of its own, or ask for cameras = auto"
                   : "ask for cameras = auto");
  return shared->second;
}

void CameraGroups::take(const std::string& group, const Camera& camera) {
  if (group.empty() || camera.width == 0) return;
  const auto [it, is_new] = known_.emplace(group, camera);
  // A camera that was replaced has another size, and so have the other images of its group.
  if (!is_new && it->second.id == camera.id) it->second = camera;
}

CameraWriter::CameraWriter(const CameraGroups& groups, std::int64_t data_version)
    : groups_(groups), data_version_(data_version) {
  for (const auto& [group, camera] : groups.known()) ids_[group] = camera.id;
}

Id CameraWriter::camera_of(Database& database, const std::string& name, const std::string& group,
                           const Camera& camera) {
  if (camera.id != 0) return camera.id;
  if (!group.empty()) {
    const auto known = ids_.find(group);
    if (known != ids_.end()) return known->second;
    const std::int64_t version = database.data_version();
    if (version != data_version_) {
      others_ = groups_.in_database(database);
      data_version_ = version;
    }
    const auto other = others_.find(group);
    if (other != others_.end()) {
      return made_[group] = of_another_run(database, name, camera, other->second);
    }
  }
  const Id id = database.add_camera(camera);
  groups_.remember(database, group, id);
  if (!group.empty()) made_[group] = id;
  return id;
}

void CameraWriter::replace(Database& database, const std::string& group, const Camera& camera) {
  database.replace_camera(camera.id, camera);
  // The new photograph does not have what the group of the replaced camera had in common.
  database.forget_camera_group(camera.id);
  if (group.empty() || ids_.contains(group)) return;
  groups_.remember(database, group, camera.id);
  made_[group] = camera.id;
}

void CameraWriter::committed() {
  for (const auto& [group, id] : made_) ids_.emplace(group, id);
  made_.clear();
}

// Usually the other run made it from the same first image; it differs if only one of the runs could
// read that image.
Id CameraWriter::of_another_run(const Database& database, const std::string& name,
                                const Camera& mine, const Camera& other) const {
  if (mine.width != other.width || mine.height != other.height) {
    fail(ErrorCode::io, database.file(), ": another run has made ", groups_.name_of_camera(),
         " for ", other.width, " x ", other.height, " pixels, but ", name, " has ", mine.width,
         " x ", mine.height, "; run the command again to continue");
  }
  return other.id;
}

int CameraGroups::otherwise(const Database& database,
                            const std::unordered_set<std::string>& images) const {
  std::unordered_map<Id, Camera> cameras;
  for (const Camera& camera : database.cameras()) cameras[camera.id] = camera;
  std::map<Id, int> users;
  std::map<std::string, std::set<Id>> of_folder;
  std::map<Id, std::set<std::string>> folders;
  std::vector<ImageRow> rows = database.images();
  for (const ImageRow& row : rows) {
    ++users[row.camera];
    of_folder[folder_of(row.name)].insert(row.camera);
    folders[row.camera].insert(folder_of(row.name));
  }
  int count = 0;
  for (const ImageRow& row : rows) {
    if (!images.contains(row.name)) continue;
    const bool shared_otherwise =
        options_.cameras == CameraSharing::per_folder
            ? of_folder[folder_of(row.name)].size() > 1 || folders[row.camera].size() > 1
            : options_.cameras == CameraSharing::per_image && users[row.camera] > 1;
    count += shared_otherwise || !is_as_asked(cameras[row.camera]);
  }
  return count;
}

}  // namespace cornea::folder
