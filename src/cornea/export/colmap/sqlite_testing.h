// SPDX-License-Identifier: Apache-2.0
// For tests: reads and changes an SQLite file with plain SQL instead of our own code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "cornea/core/error.h"

namespace cornea::testing {

// Changes a database, or creates one.
inline void change_file(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(handle) << ": " << sql;
  sqlite3_close(handle);
}

// The rows of a query; each cell is given as its type, its length and its bytes.
inline std::vector<std::string> rows_of(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  sqlite3_stmt* row = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(handle, sql.c_str(), -1, &row, nullptr), SQLITE_OK) << sql;
  std::vector<std::string> rows;
  while (sqlite3_step(row) == SQLITE_ROW) {
    std::string& line = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(row); ++i) {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, i));
      line += text("|", sqlite3_column_type(row, i), ":", sqlite3_column_bytes(row, i), ":");
      if (bytes) line.append(bytes, std::size_t(sqlite3_column_bytes(row, i)));
    }
  }
  sqlite3_finalize(row);
  sqlite3_close(handle);
  return rows;
}

}  // namespace cornea::testing
