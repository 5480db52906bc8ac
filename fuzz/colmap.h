// SPDX-License-Identifier: Apache-2.0
// A COLMAP database in memory, and calls of everything that Cornea reads from one.
//
// SQLite's in-memory file system (memdb) is made the default, so that Database opens the contents
// of MemoryDatabase under the name of a file that always exists. It has no write-ahead log.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <sqlite3.h>

#include "cornea/export/colmap/database.h"
#include "fuzz/harness.h"

namespace cornea::fuzz {

class MemoryDatabase {
 public:
  static constexpr char kName[] = "/dev/null";

  MemoryDatabase() {
    sqlite3_initialize();
    sqlite3_vfs_register(sqlite3_vfs_find("memdb"), /*default=*/1);
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(limit_work));
    // As long as this connection is open, its name refers to the same memory.
    must(sqlite3_open(kName, &holder_) == SQLITE_OK, "a database in memory can be made");
    must(sqlite3_file_control(holder_, "main", SQLITE_FCNTL_FILE_POINTER, &file_) == SQLITE_OK,
         "a database in memory has a file");
  }
  ~MemoryDatabase() { sqlite3_close(holder_); }
  MemoryDatabase(const MemoryDatabase&) = delete;
  MemoryDatabase& operator=(const MemoryDatabase&) = delete;

  void replace(Bytes bytes) {
    // Offset of the file format versions for writing and reading: 2 means a write-ahead log, which
    // memdb does not support.
    constexpr std::size_t kVersions = 18;
    std::vector<std::uint8_t> contents(bytes.begin(), bytes.end());
    if (contents.size() >= kVersions + 2) contents[kVersions] = contents[kVersions + 1] = 1;
    file_->pMethods->xTruncate(file_, 0);
    if (!contents.empty()) {
      file_->pMethods->xWrite(file_, contents.data(), int(contents.size()), 0);
    }
  }
  sqlite3* connection() const { return holder_; }

 private:
  // A damaged file can refer to one page from a thousand others, level by level: SQLite would read
  // on for hours. Statements that take more steps than this are interrupted, which is an Error.
  // COUNT(*) is a single step and cannot be interrupted, so it is called only if the file is intact
  // (colmap_rows.cc).
  static int limit_work(sqlite3* connection, const char**, const void*) {
    constexpr int kMostSteps = 100000;
    sqlite3_progress_handler(
        connection, kMostSteps, [](void*) { return 1; }, nullptr);
    return SQLITE_OK;
  }

  sqlite3* holder_ = nullptr;
  sqlite3_file* file_ = nullptr;
};

template <class T>
void keep_first(std::vector<T>& values, std::size_t count) {
  if (values.size() > count) values.resize(count);
}

inline void check_images(const colmap::Database& database) {
  succeeds([&] { database.cameras(); });
  succeeds([&] { database.point_counts(); });
  std::vector<colmap::ImageRow> images;
  succeeds([&] { images = database.images(); });
  keep_first(images, 8);
  for (const colmap::ImageRow& image : images) {
    succeeds([&] { database.image_named(image.name); });
    succeeds([&] { database.has_points(image.id); });
    succeeds([&] { database.points(image.id); });
  }
  std::vector<colmap::Database::FeatureCount> counts;
  succeeds([&] { counts = database.descriptor_counts(); });
  keep_first(counts, 8);
  for (const colmap::Database::FeatureCount& row : counts) {
    std::vector<std::uint8_t> descriptors;
    int read = 0;
    if (!succeeds([&] { read = database.read_descriptors(row.image, descriptors); })) continue;
    must(read >= 0 && descriptors.size() % std::max<std::size_t>(std::size_t(read), 1) == 0,
         "descriptors are as many as was said");
  }
}

inline void check_pairs(const colmap::Database& database) {
  constexpr colmap::Id kFirst = 0, kLast = std::numeric_limits<colmap::Id>::max();
  succeeds([&] { database.unverified_count(); });
  succeeds([&] { database.unverified_pairs(kFirst, kLast); });
  std::vector<colmap::Id> pairs;
  succeeds([&] { pairs = database.matched_pairs(kFirst, kLast); });
  keep_first(pairs, 8);
  for (const colmap::Id pair : pairs) {
    const colmap::ImagePair images = colmap::pair_of(pair);
    if (images.first < images.second && images.second < colmap::kMostImages) {
      must(colmap::pair_id(images) == pair, "a pair has one number");
    }
    succeeds([&] { database.matches(pair); });
    succeeds([&] { database.two_view(pair); });
  }
}

// What is written must be read back; then the transaction is rolled back.
inline void check_writing(colmap::Database& database) {
  succeeds([&] {
    colmap::Database::Transaction transaction(database);
    const colmap::Id camera =
        database.add_camera({.width = 4, .height = 3, .params = {5, 2, 1, 0}});
    const colmap::Id first = database.add_image("fuzz/1", camera);
    const colmap::Id second = database.add_image("fuzz/2", camera);
    const std::vector<colmap::IndexPair> matches = {{1, 2}, {3, 4}};
    database.write_matches({first, second}, matches);
    must(database.matches(colmap::pair_id({first, second})) == matches, "matches are read back");
  });
}

inline void check_database() {
  succeeds([&] {
    colmap::Database database(MemoryDatabase::kName);
    check_images(database);
    check_pairs(database);
    check_writing(database);
  });
}

}  // namespace cornea::fuzz
