// Inside of pipeline: which images of a folder share a camera.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cornea/export/colmap/database.h"
#include "cornea/io/image_file.h"
#include "cornea/pipeline/folder/extract.h"
#include "cornea/pipeline/folder/photograph.h"

namespace cornea::folder {

// A group is a text that its images have in common, and empty for an image with a camera of its
// own. Which image is in which group depends on the image alone, so that groups are the same
// wherever a run was stopped; the camera is made of the group's first image that could be read.
class CameraGroups {
 public:
  // `names` are those of the folder.
  CameraGroups(const ExtractOptions& options, const std::vector<std::string>& names);

  std::string group_of(const std::string& name, const Photograph& photograph) const;
  // A camera as the options ask for it. An error where the parameters that were given cannot be
  // those of an image of this size.
  colmap::Camera camera_of(const Photograph& photograph) const;

  // The groups that have a camera in the database. An error where a single camera is asked for and
  // there are several, or one of another model or other parameters than are asked for.
  std::unordered_map<std::string, colmap::Camera> in_database(
      const colmap::Database& database) const;
  // Of a group whose camera was made since; within a transaction.
  void remember(colmap::Database& database, const std::string& group, colmap::Id camera) const;

  // From now on camera_for() knows the cameras of the database.
  void load(const colmap::Database& database);
  // The camera of an image that has pixels now: that of its group where there is one, with its id
  // if it is in the database; otherwise a new one. Of an image with a row no camera, which has no
  // size, where it keeps its own, or one with that one's id, whose place it takes. An error where
  // the image cannot have the camera that it should have.
  colmap::Camera camera_for(const Pending& pending, const Photograph& photograph,
                            const std::string& group) const;
  // The camera of an image with features, for the others of its group.
  void take(const std::string& group, const colmap::Camera& camera);
  const std::unordered_map<std::string, colmap::Camera>& known() const { return known_; }
  // For sentences.
  std::string name_of_camera() const;

  // How many of these images, which are in the database, have a camera that is not what the options
  // ask for: of another model, with other parameters, or shared otherwise.
  int otherwise(const colmap::Database& database,
                const std::unordered_set<std::string>& images) const;

 private:
  bool is_as_asked(const colmap::Camera& camera) const;

  const ExtractOptions& options_;
  const std::unordered_set<std::string> names_;
  std::unordered_map<std::string, colmap::Camera> known_;  // by group
};

// The same on the thread that writes, within its transactions.
class CameraWriter {
 public:
  // After CameraGroups::load(); `groups` is otherwise used by another thread from now on, and here
  // only for what does not change.
  CameraWriter(const CameraGroups& groups, std::int64_t data_version);

  // With every transaction: what was made in one that was not committed is forgotten.
  void begin() { made_.clear(); }
  // The camera of a new image called `name`, which is made where there is none.
  colmap::Id camera_of(colmap::Database& database, const std::string& name,
                       const std::string& group, const colmap::Camera& camera);
  // An image alone with its camera has pixels of another size now.
  void replace(colmap::Database& database, const std::string& group, const colmap::Camera& camera);
  void committed();  // what was made since the last call is in the database

 private:
  colmap::Id of_another_run(const colmap::Database& database, const std::string& name,
                            const colmap::Camera& mine, const colmap::Camera& other) const;

  const CameraGroups& groups_;
  std::int64_t data_version_;                               // when others_ was read
  std::unordered_map<std::string, colmap::Id> ids_;         // of groups
  std::unordered_map<std::string, colmap::Id> made_;        // since the last commit
  std::unordered_map<std::string, colmap::Camera> others_;  // of groups, by other runs too
};

}  // namespace cornea::folder
