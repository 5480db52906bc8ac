// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: decides which images of a folder share a camera.
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

// A group is identified by a text that its images have in common; the text is empty for an image
// with a camera of its own. Group membership depends on the image alone, so groups do not depend on
// where a run was stopped. The camera is that of the group's first readable image.
class CameraGroups {
 public:
  // `names` are the image names of the folder.
  CameraGroups(const ExtractOptions& options, const std::vector<std::string>& names);

  std::string group_of(const std::string& name, const Photograph& photograph) const;
  // A camera as the options ask for it. An error if the given parameters are impossible for an
  // image of this size.
  colmap::Camera camera_of(const Photograph& photograph) const;

  // The groups that already have a camera in the database. An error if a single camera is asked for
  // and there are several, or if its model or parameters differ from those asked for.
  std::unordered_map<std::string, colmap::Camera> in_database(
      const colmap::Database& database) const;
  // Records the new camera of a group; call it within a transaction.
  void remember(colmap::Database& database, const std::string& group, colmap::Id camera) const;

  // Loads the cameras of the database for camera_for().
  void load(const colmap::Database& database);
  // The camera for an image whose pixels have just been read: that of its group if there is one
  // (with its id if it is in the database), otherwise a new one. For an image that already has a
  // row, the result has no size if the image keeps its camera, or has that camera's id if it
  // replaces it. An error if the image cannot have the camera that it should have.
  colmap::Camera camera_for(const Pending& pending, const Photograph& photograph,
                            const std::string& group) const;
  // Registers the camera of an image with features for the other images of its group.
  void take(const std::string& group, const colmap::Camera& camera);
  const std::unordered_map<std::string, colmap::Camera>& known() const { return known_; }
  // A description for error sentences.
  std::string name_of_camera() const;

  // How many of these images, which are in the database, have a camera that differs from what the
  // options ask for in model, parameters or sharing.
  int otherwise(const colmap::Database& database,
                const std::unordered_set<std::string>& images) const;

 private:
  bool is_as_asked(const colmap::Camera& camera) const;

  const ExtractOptions& options_;
  const std::unordered_set<std::string> names_;
  std::unordered_map<std::string, colmap::Camera> known_;  // by group
};

// The same for the writer thread, within its transactions.
class CameraWriter {
 public:
  // Call it after CameraGroups::load(). From then on another thread uses `groups`; this class reads
  // only what does not change.
  CameraWriter(const CameraGroups& groups, std::int64_t data_version);

  // Call it at the beginning of every transaction: cameras of a transaction that was rolled back
  // are forgotten.
  void begin() { made_.clear(); }
  // The camera of a new image called `name`; creates it if there is none.
  colmap::Id camera_of(colmap::Database& database, const std::string& name,
                       const std::string& group, const colmap::Camera& camera);
  // Replaces the camera of an image that shares it with no other and whose size has changed.
  void replace(colmap::Database& database, const std::string& group, const colmap::Camera& camera);
  void committed();  // the cameras made since the last call are in the database

 private:
  colmap::Id of_another_run(const colmap::Database& database, const std::string& name,
                            const colmap::Camera& mine, const colmap::Camera& other) const;

  const CameraGroups& groups_;
  // Data version at which others_ was read.
  std::int64_t data_version_;
  std::unordered_map<std::string, colmap::Id> ids_;   // by group
  std::unordered_map<std::string, colmap::Id> made_;  // since the last commit
  // by group, including those of other runs
  std::unordered_map<std::string, colmap::Camera> others_;
};

}  // namespace cornea::folder
