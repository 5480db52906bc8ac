// SPDX-License-Identifier: Apache-2.0
// Features of other programs in a COLMAP database.
#include <algorithm>
#include <cstring>

#include "cornea/core/error.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/layout.h"
#include "cornea/export/colmap/statement.h"

namespace cornea::colmap {
namespace {

template <class T>
bool equal(std::span<const std::uint8_t> bytes, const std::vector<T>& values) {
  return bytes.size() == values.size() * sizeof(T) &&
         (bytes.empty() || std::memcmp(bytes.data(), values.data(), bytes.size()) == 0);
}

}  // namespace

void Database::write_foreign_features(Id image, const ForeignFeatures& features) {
  require(is_keypoint_width(features.columns), file_, ": keypoints of ", features.columns,
          " numbers; 2, 4 or 6 per point are needed");
  const auto rows = std::int64_t(features.size());
  require(features.keypoints.size() % std::size_t(features.columns) == 0, file_, ": ",
          features.keypoints.size(), " numbers are no whole number of keypoints of ",
          features.columns);
  const bool has_descriptors = features.descriptor_bytes > 0;
  const std::int64_t bytes = rows * std::max(features.descriptor_bytes, 0);
  require(std::int64_t(features.descriptors.size()) == bytes, file_, ": descriptors of ", rows,
          " keypoints take ", bytes, " bytes, not ", features.descriptors.size());
  require(!has_descriptors || features.descriptor_type == 0 || descriptors_have_type_, file_,
          ": has no column for the type of descriptors, which these need because they are not "
          "SIFT's; leave them out, "
          "or begin a new database with schema = 4");
  Statement(*this,
            "INSERT OR REPLACE INTO keypoints(image_id, rows, cols, data) VALUES(?, ?, ?, ?)")
      .bind(image)
      .bind(rows)
      .bind(features.columns)
      .bind_blob(std::span<const float>(features.keypoints))
      .run();
  Statement(*this, "DELETE FROM descriptors WHERE image_id = ?").bind(image).run();
  if (has_descriptors) {
    Statement row(*this, descriptors_have_type_
                             ? "INSERT INTO descriptors(image_id, rows, cols, data, type) "
                               "VALUES(?, ?, ?, ?, ?)"
                             : "INSERT INTO descriptors(image_id, rows, cols, data) "
                               "VALUES(?, ?, ?, ?)");
    row.bind(image).bind(rows).bind(features.descriptor_bytes);
    row.bind_blob(std::span<const std::uint8_t>(features.descriptors));
    if (descriptors_have_type_) row.bind(features.descriptor_type);
    row.run();
  }
  if (has_records()) {
    Statement(*this, "DELETE FROM cornea_images WHERE image_id = ?").bind(image).run();
  }
}

bool Database::has_features(Id image, const ForeignFeatures& features) const {
  Statement points(*this, "SELECT cols, data FROM keypoints WHERE image_id = ?");
  if (!points.bind(image).next()) return false;
  if (points.integer(0) != features.columns || !equal(points.bytes(1), features.keypoints)) {
    return false;
  }
  Statement row(*this, descriptors_have_type_
                           ? "SELECT cols, data, type FROM descriptors WHERE image_id = ?"
                           : "SELECT cols, data, 0 FROM descriptors WHERE image_id = ?");
  if (!row.bind(image).next()) return features.descriptor_bytes == 0;
  return row.integer(0) == features.descriptor_bytes &&
         row.integer(2) == features.descriptor_type && equal(row.bytes(1), features.descriptors);
}

}  // namespace cornea::colmap
