// SPDX-License-Identifier: Apache-2.0
// Cornea's own tables in a COLMAP database.
#include "cornea/export/colmap/records.h"

#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/statement.h"

namespace cornea::colmap {
namespace {

// Without foreign keys, so that changes by other programs to their tables cannot fail because of
// these. A row is ignored if its image is gone or has other points.
constexpr char kRecordTables[] =
    "CREATE TABLE IF NOT EXISTS cornea_images"
    "   (image_id       INTEGER  PRIMARY KEY  NOT NULL,"
    "    name           TEXT                  NOT NULL,"
    "    folder         TEXT                  NOT NULL,"
    "    bytes          INTEGER               NOT NULL,"
    "    modified       INTEGER               NOT NULL,"
    "    hash           INTEGER               NOT NULL,"
    "    mask_bytes     INTEGER,"
    "    mask_modified  INTEGER,"
    "    mask_hash      INTEGER,"
    "    options        TEXT                  NOT NULL,"
    "    features       INTEGER               NOT NULL);"
    "CREATE TABLE IF NOT EXISTS cornea_steps"
    "   (step     TEXT  NOT NULL,"
    "    options  TEXT  NOT NULL,"
    "PRIMARY KEY(step, options));";

// Created only in databases with shared cameras.
constexpr char kCameraTable[] =
    "CREATE TABLE IF NOT EXISTS cornea_cameras"
    "   (camera_id  INTEGER  PRIMARY KEY  NOT NULL,"
    "    common     TEXT                  NOT NULL);";

// SQLite's integers are signed.
std::int64_t as_stored(std::uint64_t hash) { return std::int64_t(hash); }

FileStamp stamp_at(const Statement& row, int column) {
  return {row.integer(column), row.integer(column + 1), std::uint64_t(row.integer(column + 2))};
}

}  // namespace

bool Database::has_records() const {
  return finds("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cornea_images'") &&
         finds("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cornea_steps'");
}

void Database::make_record_tables() {
  if (!has_records()) run(kRecordTables);
}

bool Database::has_camera_records() const {
  return finds("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cornea_cameras'");
}

std::map<std::string, Id> Database::camera_groups() const {
  std::map<std::string, Id> all;
  if (!has_camera_records()) return all;
  Statement row(*this,
                "SELECT r.camera_id, r.common FROM cornea_cameras r JOIN cameras c "
                "ON c.camera_id = r.camera_id ORDER BY r.camera_id");
  while (row.next()) all.emplace(row.text(1), row.integer(0));
  return all;
}

void Database::write_camera_group(Id camera, const std::string& common) {
  if (!has_camera_records()) run(kCameraTable);
  Statement(*this, "INSERT OR REPLACE INTO cornea_cameras(camera_id, common) VALUES(?, ?)")
      .bind(camera)
      .bind(common)
      .run();
}

void Database::forget_camera_group(Id camera) {
  if (!has_camera_records()) return;
  Statement(*this, "DELETE FROM cornea_cameras WHERE camera_id = ?").bind(camera).run();
}

void Database::visit_records(const std::function<void(const ImageRecord&)>& visit) const {
  if (!has_records()) return;
  Statement row(*this,
                "SELECT r.image_id, r.name, r.folder, r.bytes, r.modified, r.hash, r.mask_bytes, "
                "r.mask_modified, r.mask_hash, r.options, r.features FROM cornea_images r "
                "JOIN images i ON i.image_id = r.image_id AND i.name = r.name "
                "JOIN keypoints k ON k.image_id = r.image_id AND k.rows = r.features "
                "ORDER BY r.image_id");
  while (row.next()) {
    ImageRecord record{row.integer(0), row.text(1),    row.text(2), stamp_at(row, 3), {},
                       row.text(9),    row.integer(10)};
    if (!row.is_null(8)) record.mask = stamp_at(row, 6);
    visit(record);
  }
}

void Database::write_record(const ImageRecord& record) {
  make_record_tables();
  Statement row(*this,
                "INSERT OR REPLACE INTO cornea_images(image_id, name, folder, bytes, modified, "
                "hash, mask_bytes, mask_modified, mask_hash, options, features) "
                "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.bind(record.image).bind(record.name).bind(record.folder);
  row.bind(record.file.bytes).bind(record.file.modified).bind(as_stored(record.file.hash));
  if (record.mask) {
    row.bind(record.mask->bytes).bind(record.mask->modified).bind(as_stored(record.mask->hash));
  } else {
    row.bind_null().bind_null().bind_null();
  }
  row.bind(record.options).bind(record.features).run();
}

std::vector<std::string> Database::options_of_images() const {
  if (!has_records()) return {};
  std::vector<std::string> all;
  Statement row(*this, "SELECT DISTINCT options FROM cornea_images ORDER BY options");
  while (row.next()) all.push_back(row.text(0));
  return all;
}

std::vector<std::string> Database::options_of_step(const std::string& step) const {
  if (!has_records()) return {};
  std::vector<std::string> all;
  Statement row(*this, "SELECT options FROM cornea_steps WHERE step = ? ORDER BY options");
  row.bind(step);
  while (row.next()) all.push_back(row.text(0));
  return all;
}

void Database::add_options_of_step(const std::string& step, const std::string& options) {
  make_record_tables();
  Statement(*this, "INSERT OR IGNORE INTO cornea_steps(step, options) VALUES(?, ?)")
      .bind(step)
      .bind(options)
      .run();
}

void Database::forget_options_of_step(const std::string& step) {
  if (!has_records()) return;
  Statement(*this, "DELETE FROM cornea_steps WHERE step = ?").bind(step).run();
}

std::optional<std::vector<Id>> Database::chosen_pairs(const std::string& from) const {
  if (!finds("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cornea_choice'")) {
    return std::nullopt;
  }
  Statement row(*this, "SELECT rows, data FROM cornea_choice WHERE chosen_from = ?");
  if (!row.bind(from).next()) return std::nullopt;
  try {
    return row.blob<Id>(1, row.integer(0), "pairs");
  } catch (const DamagedRow&) {
    return std::nullopt;  // a damaged choice is made again
  }
}

// The table is created only if it is needed, so that a database of all pairs has none.
void Database::write_chosen_pairs(const std::string& from, std::span<const Id> pairs) {
  run("CREATE TABLE IF NOT EXISTS cornea_choice"
      "   (chosen_from  TEXT     PRIMARY KEY  NOT NULL,"
      "    rows         INTEGER               NOT NULL,"
      "    data         BLOB);");
  run("DELETE FROM cornea_choice");
  Statement(*this, "INSERT INTO cornea_choice(chosen_from, rows, data) VALUES(?, ?, ?)")
      .bind(from)
      .bind(std::int64_t(pairs.size()))
      .bind_blob(pairs)
      .run();
}

}  // namespace cornea::colmap
