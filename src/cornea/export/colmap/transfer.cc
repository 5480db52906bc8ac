// SPDX-License-Identifier: Apache-2.0
#include "cornea/export/colmap/transfer.h"

#include "cornea/core/error.h"
#include "cornea/export/colmap/layout.h"
#include "cornea/export/colmap/statement.h"

namespace cornea::colmap {
namespace {

void execute(Database& database, const std::string& sql) { Statement(database, sql.c_str()).run(); }

bool has_table(const Database& database, const std::string& table, const char* schema = "main") {
  Statement row(
      database,
      text("SELECT 1 FROM ", schema, ".sqlite_master WHERE type = 'table' AND name = ?").c_str());
  return row.bind(table).next();
}

std::int64_t version_of(const Database& database, const char* schema) {
  Statement row(database, text("PRAGMA ", schema, ".user_version").c_str());
  return row.next() ? row.integer(0) : 0;
}

}  // namespace

Attached::Attached(Database& to, const std::filesystem::path& from)
    : to_(to), from_(from.string()) {
  const std::string uri = uri_of_finished(from);
  std::error_code ignored;
  if (!std::filesystem::exists(from, ignored)) {
    fail(ErrorCode::io, from.string(), ": is missing or cannot be reached");
  }
  try {
    Statement(to, "ATTACH DATABASE ? AS other").bind(uri).run();
  } catch (const Error& error) {
    fail(error.code(), from.string(), ": cannot be attached (", error.what(), ")");
  }
  if (version_of(to, "other") == version_of(to, "main")) return;
  execute(to, "DETACH DATABASE other");
  fail(ErrorCode::io, from.string(), ": has the tables of another version of COLMAP than ",
       to.file(), "; make all parts with one schema");
}

Attached::~Attached() {
  try {
    execute(to_, "DETACH DATABASE other");
  } catch (const Error&) {
    // Closing the connection detaches it, too.
  }
}

void Attached::copy_rows(const std::string& table, const std::string& column, Id value) {
  Statement(to_, text("INSERT INTO main.", table, " SELECT * FROM other.", table, " WHERE ", column,
                      " = ?")
                     .c_str())
      .bind(value)
      .run();
}

void Attached::copy_table(const std::string& table) {
  execute(to_,
          text("INSERT INTO main.", table, " SELECT * FROM other.", table, " ORDER BY pair_id"));
}

void Attached::copy_image(Id image) {
  Statement row(to_, "SELECT name, camera_id FROM other.images WHERE image_id = ?");
  if (!row.bind(image).next()) fail(ErrorCode::io, from_, ": there is no image ", image);
  const Id camera = row.integer(1);
  Statement known(to_, "SELECT 1 FROM main.cameras WHERE camera_id = ?");
  if (!known.bind(camera).next()) copy_camera(camera);
  to_.add_image(row.text(0), camera, image);
}

void Attached::copy_keypoints(Id image) { copy_rows("keypoints", "image_id", image); }
void Attached::copy_descriptors(Id image) { copy_rows("descriptors", "image_id", image); }

void Attached::copy_camera(Id camera) {
  copy_rows("cameras", "camera_id", camera);
  if (!has_table(to_, "cornea_cameras", "other")) return;
  Statement row(to_, "SELECT common FROM other.cornea_cameras WHERE camera_id = ?");
  if (row.bind(camera).next()) to_.write_camera_group(camera, row.text(0));
}

void Attached::copy_pose_prior(Id image) {
  if (!has_table(to_, "pose_priors") || !has_table(to_, "pose_priors", "other")) return;
  Statement(
      to_,
      "INSERT INTO main.pose_priors(corr_data_id, corr_sensor_id, corr_sensor_type, position, "
      "position_covariance, gravity, coordinate_system) SELECT p.corr_data_id, i.camera_id, "
      "p.corr_sensor_type, p.position, p.position_covariance, p.gravity, p.coordinate_system "
      "FROM other.pose_priors p JOIN main.images i ON i.image_id = p.corr_data_id "
      "WHERE p.corr_data_id = ?")
      .bind(image)
      .run();
}

void Attached::copy_record(Id image) { copy_rows("cornea_images", "image_id", image); }

void Attached::copy_steps(const std::string& step) {
  Statement(to_,
            "INSERT OR IGNORE INTO main.cornea_steps SELECT * FROM other.cornea_steps "
            "WHERE step = ?")
      .bind(step)
      .run();
}

void Attached::copy_matches() {
  copy_table("matches");
  copy_steps("match");
}
void Attached::copy_two_views() {
  copy_table("two_view_geometries");
  copy_steps("verify");
}
void Attached::copy_matches(std::span<const Id> pairs) {
  for (const Id pair : pairs) copy_rows("matches", "pair_id", pair);
  copy_steps("match");
}
void Attached::copy_two_views(std::span<const Id> pairs) {
  for (const Id pair : pairs) copy_rows("two_view_geometries", "pair_id", pair);
  copy_steps("verify");
}

void write_note(Database& database, const std::string& key, const std::string& value) {
  execute(database, "CREATE TABLE IF NOT EXISTS cornea_notes(key TEXT NOT NULL, value TEXT)");
  Statement(database, "INSERT INTO cornea_notes(key, value) VALUES(?, ?)")
      .bind(key)
      .bind(value)
      .run();
}

std::vector<std::string> notes(const Database& database, const std::string& key) {
  std::vector<std::string> all;
  if (!has_table(database, "cornea_notes")) return all;
  Statement row(database, "SELECT value FROM cornea_notes WHERE key = ? ORDER BY rowid");
  row.bind(key);
  while (row.next()) all.push_back(row.text(0));
  return all;
}

std::string note(const Database& database, const std::string& key) {
  const std::vector<std::string> all = notes(database, key);
  if (all.size() != 1) {
    fail(ErrorCode::io, database.file(), ": has ", all.size(), " values, not one, for ", key,
         "; create this file again");
  }
  return all.front();
}

void write_taken(Database& database, Id image, const TakenRow& row) {
  execute(database,
          "CREATE TABLE IF NOT EXISTS cornea_taken(image_id INTEGER PRIMARY KEY NOT NULL, "
          "camera TEXT NOT NULL, microseconds INTEGER, position BLOB)");
  Statement insert(database,
                   "INSERT INTO cornea_taken(image_id, camera, microseconds, position) "
                   "VALUES(?, ?, ?, ?)");
  insert.bind(image).bind(row.camera);
  row.microseconds ? insert.bind(*row.microseconds) : insert.bind_null();
  std::vector<double> position;
  if (row.position) {
    position = {row.position->latitude, row.position->longitude};
    if (row.position->altitude_m) position.push_back(*row.position->altitude_m);
  }
  insert.bind_blob(std::span<const double>(position)).run();
}

TakenRow taken(const Database& database, Id image) {
  if (!has_table(database, "cornea_taken")) return {};
  Statement row(database,
                "SELECT camera, microseconds, position FROM cornea_taken WHERE image_id = ?");
  if (!row.bind(image).next()) return {};
  TakenRow taken{row.text(0), {}, {}};
  if (!row.is_null(1)) taken.microseconds = row.integer(1);
  if (const std::size_t bytes = row.bytes(2).size(); bytes > 0) {
    const std::int64_t count = bytes > 2 * sizeof(double) ? 3 : 2;
    const std::vector<double> numbers = row.blob<double>(2, count, "a position");
    taken.position = GpsPosition{numbers[0], numbers[1], {}};
    if (count == 3) taken.position->altitude_m = numbers[2];
  }
  return taken;
}

void write_block(Database& database, int number, const PairBlock& block) {
  execute(database,
          "CREATE TABLE IF NOT EXISTS cornea_blocks(block INTEGER PRIMARY KEY NOT NULL, "
          "rows INTEGER NOT NULL, images INTEGER NOT NULL, features INTEGER NOT NULL, data BLOB)");
  Statement(database,
            "INSERT INTO cornea_blocks(block, rows, images, features, data) VALUES(?, ?, ?, ?, ?)")
      .bind(number)
      .bind(std::int64_t(block.pairs.size()))
      .bind(block.images)
      .bind(block.features)
      .bind_blob(std::span<const Id>(block.pairs))
      .run();
}

int count_blocks(const Database& database) {
  if (!has_table(database, "cornea_blocks")) return 0;
  Statement row(database, "SELECT COUNT(*) FROM cornea_blocks");
  return row.next() ? int(row.integer(0)) : 0;
}

void write_count(Database& database, Id image, int features) {
  execute(database,
          "CREATE TABLE IF NOT EXISTS cornea_counts(image_id INTEGER PRIMARY KEY NOT NULL, "
          "features INTEGER NOT NULL)");
  Statement(database, "INSERT INTO cornea_counts(image_id, features) VALUES(?, ?)")
      .bind(image)
      .bind(features)
      .run();
}

int read_count(const Database& database, Id image) {
  if (!has_table(database, "cornea_counts")) return 0;
  Statement row(database, "SELECT features FROM cornea_counts WHERE image_id = ?");
  return row.bind(image).next() ? int(row.integer(0)) : 0;
}

PairBlock read_block(const Database& database, int number) {
  Statement row(database, "SELECT rows, images, features, data FROM cornea_blocks WHERE block = ?");
  if (!row.bind(number).next()) {
    fail(ErrorCode::io, database.file(), ": has no block ", number, "; create this file again");
  }
  return {row.blob<Id>(3, row.integer(0), "a block of pairs"), row.integer(1), row.integer(2)};
}

}  // namespace cornea::colmap
