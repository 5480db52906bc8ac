// SPDX-License-Identifier: Apache-2.0
// Removes an image from a COLMAP database, with everything that belongs to it alone.
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/layout.h"
#include "cornea/export/colmap/statement.h"

namespace cornea::colmap {

void Database::delete_image(Id image) {
  Statement row(*this, "SELECT camera_id FROM images WHERE image_id = ?");
  if (!row.bind(image).next()) return;
  const Id camera = row.integer(0);
  delete_pairs_of(image);
  for (const char* sql :
       {"DELETE FROM keypoints WHERE image_id = ?", "DELETE FROM descriptors WHERE image_id = ?"}) {
    Statement(*this, sql).bind(image).run();
  }
  if (has_records()) {
    Statement(*this, "DELETE FROM cornea_images WHERE image_id = ?").bind(image).run();
  }
  if (images_have_frames_) delete_frame_of(image);
  delete_pose_prior(image);
  Statement(*this, "DELETE FROM images WHERE image_id = ?").bind(image).run();
  delete_camera_unless_used(camera);
}

// A frame that holds images of other cameras of its rig is kept.
void Database::delete_frame_of(Id image) {
  Statement row(*this, "SELECT frame_id FROM frame_data WHERE data_id = ? AND sensor_type = ?");
  if (!row.bind(image).bind(kCameraSensor).next()) return;
  const Id frame = row.integer(0);
  Statement(*this, "DELETE FROM frame_data WHERE data_id = ? AND sensor_type = ?")
      .bind(image)
      .bind(kCameraSensor)
      .run();
  Statement(*this,
            "DELETE FROM frames WHERE frame_id = ?1 AND NOT EXISTS "
            "(SELECT 1 FROM frame_data WHERE frame_id = ?1)")
      .bind(frame)
      .run();
}

void Database::delete_camera_unless_used(Id camera) {
  Statement images(*this, "SELECT 1 FROM images WHERE camera_id = ?");
  if (images.bind(camera).next()) return;
  if (images_have_frames_) {
    Statement(*this,
              "DELETE FROM rigs WHERE ref_sensor_id = ? AND ref_sensor_type = ? AND rig_id NOT IN "
              "(SELECT rig_id FROM frames) AND rig_id NOT IN (SELECT rig_id FROM rig_sensors)")
        .bind(camera)
        .bind(kCameraSensor)
        .run();
    for (const char* sql : {"SELECT 1 FROM rigs WHERE ref_sensor_id = ? AND ref_sensor_type = ?",
                            "SELECT 1 FROM rig_sensors WHERE sensor_id = ? AND sensor_type = ?"}) {
      Statement rig(*this, sql);
      if (rig.bind(camera).bind(kCameraSensor).next()) return;
    }
  }
  forget_camera_group(camera);
  Statement(*this, "DELETE FROM cameras WHERE camera_id = ?").bind(camera).run();
}

}  // namespace cornea::colmap
