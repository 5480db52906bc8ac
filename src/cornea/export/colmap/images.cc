// SPDX-License-Identifier: Apache-2.0
// Cameras, images and their features in a COLMAP database.
#include <cmath>
#include <limits>

#include "cornea/core/error.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/layout.h"
#include "cornea/export/colmap/statement.h"

namespace cornea::colmap {
namespace {

std::string impossible_id(Id id) {
  return text("has the id ", id, ", but ids of images are 0 to ", kMostImages - 1);
}

// Records a sentence for a row that is left out if the caller collects them, and throws otherwise.
void refuse(const std::string& file, const std::string& image, const std::string& reason,
            std::vector<std::string>* refused) {
  if (!refused) {
    throw DamagedRow(text(file, ": image ", image, " ", reason,
                          "; repair this row, or extract into a new database"));
  }
  refused->push_back(text(image, ": ", reason, "; it is left out"));
}

// Whether a count fits an int.
bool is_count(std::int64_t count) { return count >= 0 && count <= std::numeric_limits<int>::max(); }

}  // namespace

std::vector<Camera> Database::cameras(std::vector<std::string>* refused) const {
  std::vector<Camera> all;
  Statement row(*this,
                "SELECT camera_id, model, width, height, params, prior_focal_length FROM cameras "
                "ORDER BY camera_id");
  while (row.next()) {
    const std::size_t bytes = row.bytes(4).size();
    const auto count = std::int64_t(bytes / sizeof(double));
    if (refused && bytes % sizeof(double) != 0) {
      refused->push_back(text("camera ", row.integer(0), " has parameters of ", bytes, " bytes"));
      continue;
    }
    all.push_back({row.integer(0), int(row.integer(1)), int(row.integer(2)), int(row.integer(3)),
                   row.blob<double>(4, count, "a camera's parameters"), row.integer(5) != 0});
  }
  return all;
}

std::vector<ImageRow> Database::images(std::vector<std::string>* refused) const {
  std::vector<ImageRow> all;
  Statement row(*this, "SELECT image_id, name, camera_id FROM images ORDER BY image_id");
  while (row.next()) {
    if (is_image_id(row.integer(0))) {
      all.push_back({row.integer(0), row.text(1), row.integer(2)});
    } else {
      refuse(file_, row.text(1), impossible_id(row.integer(0)), refused);
    }
  }
  return all;
}

Id Database::add_camera(const Camera& camera) {
  Statement(*this,
            "INSERT INTO cameras(model, width, height, params, prior_focal_length) "
            "VALUES(?, ?, ?, ?, ?)")
      .bind(camera.model)
      .bind(camera.width)
      .bind(camera.height)
      .bind_blob(std::span<const double>(camera.params))
      .bind(camera.prior_focal_length)
      .run();
  return sqlite3_last_insert_rowid(handle_.get());
}

void Database::replace_camera(Id camera, const Camera& by) {
  Statement(*this,
            "UPDATE cameras SET model = ?, width = ?, height = ?, params = ?, "
            "prior_focal_length = ? WHERE camera_id = ?")
      .bind(by.model)
      .bind(by.width)
      .bind(by.height)
      .bind_blob(std::span<const double>(by.params))
      .bind(by.prior_focal_length)
      .bind(camera)
      .run();
}

// COLMAP 4.x requires a frame for every image and a rig for its camera. If there are none at all,
// it creates them itself.
Id Database::rig_of(Id camera) {
  for (const char* sql :
       {"SELECT rig_id FROM rigs WHERE ref_sensor_id = ? AND ref_sensor_type = ?",
        "SELECT rig_id FROM rig_sensors WHERE sensor_id = ? AND sensor_type = ?"}) {
    Statement row(*this, sql);
    if (row.bind(camera).bind(kCameraSensor).next()) return row.integer(0);
  }
  Statement(*this, "INSERT INTO rigs(ref_sensor_id, ref_sensor_type) VALUES(?, ?)")
      .bind(camera)
      .bind(kCameraSensor)
      .run();
  return sqlite3_last_insert_rowid(handle_.get());
}

Id Database::add_image(const std::string& name, Id camera, std::optional<Id> id) {
  Statement insert(*this, "INSERT INTO images(name, camera_id, image_id) VALUES(?, ?, ?)");
  insert.bind(name).bind(camera);
  (id ? insert.bind(*id) : insert.bind_null()).run();
  const Id image = sqlite3_last_insert_rowid(handle_.get());
  if (!is_image_id(image)) refuse(file_, name, impossible_id(image), nullptr);
  if (!images_have_frames_) return image;
  Statement(*this, "INSERT INTO frames(rig_id) VALUES(?)").bind(rig_of(camera)).run();
  const Id frame = sqlite3_last_insert_rowid(handle_.get());
  Statement(*this,
            "INSERT INTO frame_data(frame_id, data_id, sensor_id, sensor_type) VALUES(?, ?, ?, ?)")
      .bind(frame)
      .bind(image)
      .bind(camera)
      .bind(kCameraSensor)
      .run();
  return image;
}

std::optional<Id> Database::image_named(const std::string& name) const {
  Statement row(*this, "SELECT image_id FROM images WHERE name = ?");
  if (!row.bind(name).next()) return std::nullopt;
  return row.integer(0);
}

bool Database::has_points(Id image) const {
  Statement row(*this, "SELECT 1 FROM keypoints WHERE image_id = ?");
  return row.bind(image).next();
}

std::vector<Database::FeatureCount> Database::point_counts(
    std::vector<std::string>* refused) const {
  std::vector<FeatureCount> all;
  Statement row(*this,
                "SELECT k.image_id, k.rows, i.name FROM keypoints k JOIN images i "
                "ON i.image_id = k.image_id ORDER BY k.image_id");
  while (row.next()) {
    const std::int64_t points = row.integer(1);
    if (!is_image_id(row.integer(0))) continue;
    if (is_count(points)) {
      all.push_back({row.integer(0), int(points)});
    } else {
      refuse(file_, row.text(2), text("has ", points, " points"), refused);
    }
  }
  return all;
}

std::vector<Database::FeatureCount> Database::descriptor_counts(
    std::vector<std::string>* refused) const {
  std::vector<FeatureCount> all;
  Statement row(*this, text("SELECT k.image_id, k.rows, d.rows, d.cols, IFNULL(LENGTH(d.data), 0), "
                            "i.name, k.cols, IFNULL(LENGTH(k.data), 0), ",
                            descriptors_have_type_ ? "d.type" : "0",
                            " FROM keypoints k JOIN descriptors d ON k.image_id = d.image_id "
                            "JOIN images i ON i.image_id = k.image_id ORDER BY k.image_id")
                           .c_str());
  while (row.next()) {
    if (!is_image_id(row.integer(0))) continue;
    const std::int64_t points = row.integer(1), length = row.integer(3), bytes = row.integer(4);
    const std::int64_t columns = row.integer(6);
    if (is_count(points) &&
        (!is_keypoint_width(columns) || row.integer(7) != points * columns * 4)) {
      refuse(file_, row.text(5),
             text("has ", points, " points of ", columns, " numbers in ", row.integer(7),
                  " bytes; extract it again with the option redo"),
             refused);
      continue;
    }
    // Checked first, because 32 floats have as many bytes as a SIFT descriptor.
    if (row.integer(8) != 0) {
      refuse(file_, row.text(5),
             text("has descriptors of type ", row.integer(8),
                  ", which are not SIFT's and cannot be matched here; import its matches"),
             refused);
      continue;
    }
    if (is_count(points) && points == row.integer(2) && length == Features::kLength &&
        bytes == points * Features::kLength) {
      all.push_back({row.integer(0), int(points)});
      continue;
    }
    refuse(
        file_, row.text(5),
        text("has ", points, " points and ", row.integer(2), " descriptors of ", length,
             " bytes in ", bytes,
             " bytes; SIFT has one of 128 bytes per point: extract it again with the option redo"),
        refused);
  }
  return all;
}

void Database::write_features(Id image, const Features& features) {
  const auto rows = std::int64_t(features.size());
  require(features.descriptors.size() == features.size() * Features::kLength, file_, ": ",
          features.size(), " keypoints have descriptors of ", features.size() * Features::kLength,
          " bytes, not ", features.descriptors.size());
  const std::vector<float> keypoints = keypoint_blob(features.keypoints);
  std::vector<std::uint8_t> descriptors = features.descriptors;
  swap_directions(descriptors);
  Statement(*this,
            "INSERT OR REPLACE INTO keypoints(image_id, rows, cols, data) VALUES(?, ?, ?, ?)")
      .bind(image)
      .bind(rows)
      .bind(kKeypointColumns)
      .bind_blob(std::span<const float>(keypoints))
      .run();
  // Since COLMAP 4.1 a column holds the type of the descriptors; 0 is SIFT.
  Statement(*this, descriptors_have_type_
                       ? "INSERT OR REPLACE INTO descriptors(image_id, rows, cols, data, type) "
                         "VALUES(?, ?, ?, ?, 0)"
                       : "INSERT OR REPLACE INTO descriptors(image_id, rows, cols, data) "
                         "VALUES(?, ?, ?, ?)")
      .bind(image)
      .bind(rows)
      .bind(Features::kLength)
      .bind_blob(std::span<const std::uint8_t>(descriptors))
      .run();
}

namespace {

// All numbers of the keypoints of an image, `columns` per point.
std::vector<float> keypoint_numbers(const Database& database, Id image, std::int64_t& columns) {
  Statement row(database, "SELECT rows, cols, data FROM keypoints WHERE image_id = ?");
  columns = kKeypointColumns;
  if (!row.bind(image).next()) return {};
  const std::int64_t rows = row.integer(0);
  columns = row.integer(1);
  if (!is_count(rows) || !is_keypoint_width(columns)) {
    throw DamagedRow(text(database.file(), ": image ", image, " has keypoints of ", rows, " x ",
                          columns, " numbers; 2, 4 or 6 per point are needed"));
  }
  return row.blob<float>(2, rows * columns, "keypoints");
}

}  // namespace

std::vector<Point> Database::points(Id image) const {
  std::int64_t columns = 0;
  const std::vector<float> blob = keypoint_numbers(*this, image, columns);
  std::vector<Point> points(blob.size() / std::size_t(columns));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float* p = blob.data() + i * std::size_t(columns);
    points[i] = {p[0] - kShift, p[1] - kShift};
  }
  return points;
}

std::vector<float> Database::scales(Id image) const {
  std::int64_t columns = 0;
  const std::vector<float> blob = keypoint_numbers(*this, image, columns);
  std::vector<float> scales(blob.size() / std::size_t(columns));
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const float* p = blob.data() + i * std::size_t(columns);
    double scale = columns > 2 ? double(p[2]) : 0;
    if (columns == kKeypointColumns) {
      scale = std::sqrt(std::abs(double(p[2]) * p[5] - double(p[3]) * p[4]));
    }
    scales[i] = std::isfinite(scale) ? float(scale) : 0;
  }
  return scales;
}

int Database::read_descriptors(Id image, std::vector<std::uint8_t>& out) const {
  Statement row(*this, "SELECT rows, cols, data FROM descriptors WHERE image_id = ?");
  if (!row.bind(image).next()) return 0;
  const std::int64_t rows = row.integer(0), columns = row.integer(1);
  if (!is_count(rows) || columns != Features::kLength) {
    throw DamagedRow(
        text(file_, ": image ", image, " has descriptors of ", rows, " x ", columns,
             " bytes; SIFT has 128 bytes per point: extract it again with the option redo"));
  }
  const std::span<const std::uint8_t> bytes = row.bytes(2);
  row.check_length(bytes.size(), rows * columns, 1, "descriptors");
  out.insert(out.end(), bytes.begin(), bytes.end());
  swap_directions(std::span(out).last(bytes.size()));
  return int(rows);
}

}  // namespace cornea::colmap
