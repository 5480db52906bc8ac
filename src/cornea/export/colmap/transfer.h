// Inside of export: rows of a finished database copied into another one as they are, and what
// Cornea writes beside them where a database is a part of a larger one.
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

// The name by which SQLite reads a file without locks (Database::Open::finished).
std::string uri_of_finished(const std::filesystem::path& file);

// A finished database beside the one that its rows are copied into. Made outside of a transaction;
// the copies are part of one. Both must have the tables of one version.
class Attached {
 public:
  Attached(Database& to, const std::filesystem::path& from);
  ~Attached();
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  // The image with its id, and its camera where `to` has not got that.
  void copy_image(Id image);
  void copy_keypoints(Id image);
  void copy_descriptors(Id image);
  // Of an image that `to` has, whose camera there may be another.
  void copy_pose_prior(Id image);
  void copy_record(Id image);
  // All of them, or those of these pairs, and the options that they were made with.
  void copy_matches();
  void copy_two_views();
  void copy_matches(std::span<const Id> pairs);
  void copy_two_views(std::span<const Id> pairs);

 private:
  void copy_camera(Id camera);  // with what its images have in common, if it has several
  void copy_rows(const std::string& table, const std::string& column, Id value);
  void copy_table(const std::string& table);
  void copy_steps(const std::string& step);

  Database& to_;
};

// Calls f(attached) for the database `from` in one transaction of `to`.
template <class F>
void copy_from(Database& to, const std::filesystem::path& from, F&& f) {
  Attached attached(to, from);
  Database::Transaction transaction(to);
  f(attached);
  transaction.commit();
}

// Words that a part of a database carries about itself: several may have one key. Within a
// transaction.
void write_note(Database& database, const std::string& key, const std::string& value);
std::vector<std::string> notes(const Database& database, const std::string& key);  // as written
// The only one; an error where there is none.
std::string note(const Database& database, const std::string& key);

// What EXIF says of an image for the choice of pairs, so that this needs no photograph.
struct TakenRow {
  std::string camera = {};  // make and model
  std::optional<std::int64_t> microseconds = {};
  std::optional<GpsPosition> position = {};
};
void write_taken(Database& database, Id image, const TakenRow& row);
TakenRow taken(const Database& database, Id image);  // empty where there is none

// Blocks of pairs, in their order, by number from 1.
struct PairBlock {
  std::vector<Id> pairs = {};  // in the order in which they are matched
  std::int64_t images = 0;     // in any of them
  std::int64_t features = 0;   // of these images
};
void write_block(Database& database, int number, const PairBlock& block);
int count_blocks(const Database& database);
// How many features an image has that lies elsewhere.
void write_count(Database& database, Id image, int features);
int read_count(const Database& database, Id image);  // 0 where it is not known
PairBlock read_block(const Database& database, int number, bool with_pairs = true);

}  // namespace cornea::colmap
