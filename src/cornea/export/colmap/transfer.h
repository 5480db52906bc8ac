// SPDX-License-Identifier: Apache-2.0
// Internal to export: copies rows of a finished database into another one unchanged, and stores
// what Cornea needs in a database that is a part of a larger one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cornea/export/colmap/database.h"
#include "cornea/io/exif.h"

namespace cornea::colmap {

// The URI by which SQLite reads a file without locks (Database::Open::finished).
std::string uri_of_finished(const std::filesystem::path& file);
// Whether a file is a database without any table, not counting its log.
bool is_empty_database(const std::filesystem::path& file);

// Attaches a finished database to the one that its rows are copied into. Must be constructed
// outside of a transaction; the copies are part of one. Both must have the same schema version.
class Attached {
 public:
  Attached(Database& to, const std::filesystem::path& from);
  ~Attached();
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  // Copies the image with its id, and its camera if `to` does not have it.
  void copy_image(Id image);
  void copy_keypoints(Id image);
  void copy_descriptors(Id image);
  // For an image that `to` has, whose camera may differ there.
  void copy_pose_prior(Id image);
  void copy_record(Id image);
  // Copies all of them, or those of these pairs, and the options that they were made with.
  void copy_matches();
  void copy_two_views();
  void copy_matches(std::span<const Id> pairs);
  void copy_two_views(std::span<const Id> pairs);

 private:
  void copy_camera(Id camera);  // with the text that its images have in common, if it is shared
  void copy_rows(const std::string& table, const std::string& column, Id value);
  void copy_table(const std::string& table);
  void copy_steps(const std::string& step);

  Database& to_;
  const std::string from_;  // for error sentences
};

// Calls f(attached) for the database `from` in one transaction of `to`.
template <class F>
void copy_from(Database& to, const std::filesystem::path& from, F&& f) {
  Attached attached(to, from);
  Database::Transaction transaction(to);
  f(attached);
  transaction.commit();
}

// Key-value notes of a part of a database; a key may have several values. Must run within a
// transaction.
void write_note(Database& database, const std::string& key, const std::string& value);
// In the order in which they were written.
std::vector<std::string> notes(const Database& database, const std::string& key);
// The only value; an error if there is not exactly one.
std::string note(const Database& database, const std::string& key);

// The EXIF data of an image that the choice of pairs needs, so that it need not read the
// photograph.
struct TakenRow {
  std::string camera = {};  // make and model
  std::optional<std::int64_t> microseconds = {};
  std::optional<GpsPosition> position = {};
};
void write_taken(Database& database, Id image, const TakenRow& row);
TakenRow taken(const Database& database, Id image);  // empty if there is none

// Blocks of pairs in their order, numbered from 1.
struct PairBlock {
  std::vector<Id> pairs = {};  // in the order in which they are matched
  std::int64_t images = 0;     // number of images in the pairs
  std::int64_t features = 0;   // number of features of these images
};
void write_block(Database& database, int number, const PairBlock& block);
int count_blocks(const Database& database);
// The number of features of an image that is stored in another database.
void write_count(Database& database, Id image, int features);
int read_count(const Database& database, Id image);  // 0 if it is not known
PairBlock read_block(const Database& database, int number);

}  // namespace cornea::colmap
