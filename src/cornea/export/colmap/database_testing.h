// SPDX-License-Identifier: Apache-2.0
// A COLMAP database for tests, in a folder of its own.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "cornea/core/testing.h"
#include "cornea/export/colmap/camera.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/sqlite_testing.h"

namespace cornea::colmap {

class ColmapDatabase : public ::testing::Test {
 protected:
  Database create() { return Database(file, Database::Open::create); }
  static void add_images(Database& database, int count) {
    Database::Transaction transaction(database);
    for (int i = 0; i < count; ++i) {
      const Id camera = database.add_camera(camera_of_image(640, 480, {}));
      database.add_image(text("image ", i, ".jpg"), camera);
    }
    transaction.commit();
  }

  // One value of the first row of a query, read with plain SQL instead of our own code. Use
  // hex() for blobs.
  std::string value(const std::string& sql) const {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
    sqlite3_stmt* row = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(handle, sql.c_str(), -1, &row, nullptr), SQLITE_OK) << sql;
    std::string found = "no row";
    if (sqlite3_step(row) == SQLITE_ROW) {
      const auto* begin = reinterpret_cast<const char*>(sqlite3_column_text(row, 0));
      found = begin ? begin : "NULL";
    }
    sqlite3_finalize(row);
    sqlite3_close(handle);
    return found;
  }
  void change(const std::string& sql) const { testing::change_file(file, sql); }

  testing::TemporaryFolder folder;
  std::filesystem::path file = folder / "c.db";
};

}  // namespace cornea::colmap
