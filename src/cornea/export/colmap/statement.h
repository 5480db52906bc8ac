// SPDX-License-Identifier: Apache-2.0
// Internal to export: one SQL statement with bound values, executed step by step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "cornea/export/colmap/database.h"

namespace cornea::colmap {

// Throws an error that names the file and the reasons of SQLite and of the system. Callers of
// SQLite set errno to 0 before, so that the reason of an earlier call is not reported.
[[noreturn]] void fail_sqlite(sqlite3* handle, const std::string& file, int code);

class Statement {
 public:
  Statement(const Database& database, const char* sql);
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Values are bound from left to right; bytes and text must live until run().
  Statement& bind(std::int64_t value) {
    return check(sqlite3_bind_int64(statement_, ++at_, value));
  }
  Statement& bind(const std::string& text) {
    return check(sqlite3_bind_text64(statement_, ++at_, text.data(), text.size(), SQLITE_STATIC,
                                     SQLITE_UTF8));
  }
  Statement& bind_null() { return check(sqlite3_bind_null(statement_, ++at_)); }
  // Binds NULL if the span is empty.
  template <class T>
  Statement& bind_blob(std::span<const T> values) {
    if (values.empty()) return bind_null();
    return check(
        sqlite3_bind_blob64(statement_, ++at_, values.data(), values.size_bytes(), SQLITE_STATIC));
  }

  bool next();  // whether there is a row
  void run() {
    while (next()) {
    }
  }

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) const;
  // The bytes of a blob, valid until the next step.
  std::span<const std::uint8_t> bytes(int column) const;
  // A blob of exactly this many values of T; otherwise an error that names `what`.
  template <class T>
  std::vector<T> blob(int column, std::int64_t count, const char* what) const {
    const std::span<const std::uint8_t> from = bytes(column);
    check_length(from.size(), count, sizeof(T), what);
    std::vector<T> values(static_cast<std::size_t>(count));
    if (!from.empty()) __builtin_memcpy(values.data(), from.data(), from.size());
    return values;
  }
  void check_length(std::size_t bytes, std::int64_t count, std::size_t size,
                    const char* what) const;

 private:
  Statement& check(int code);

  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int at_ = 0;
};

}  // namespace cornea::colmap
