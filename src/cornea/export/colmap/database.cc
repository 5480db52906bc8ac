// SPDX-License-Identifier: Apache-2.0
// The file of a COLMAP database: opening it, its tables, its log and its transactions.
#include "cornea/export/colmap/database.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>

#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/export/colmap/schema.h"
#include "cornea/export/colmap/statement.h"
#include "cornea/export/colmap/transfer.h"

namespace cornea::colmap {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyMilliseconds = 10000;  // how long to wait for a lock of another program

constexpr const char* kTableNames[] = {"cameras",     "images",  "keypoints",
                                       "descriptors", "matches", "two_view_geometries"};

void check_file(const std::string& file, Database::Open how) {
  require(!file.empty(), "the database needs a file name");
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::is_directory(status)) {
    fail(ErrorCode::io, file, ": is a folder; name a file for the database in it");
  }
  const bool may_be_new = how == Database::Open::create || how == Database::Open::scratch;
  if (!may_be_new && status.type() == fs::file_type::not_found) {
    fail(ErrorCode::io, file,
         ": there is no such database; extract a folder of images into it first");
  }
}

}  // namespace

// A URI for SQLite: bytes that are special there or not printable ASCII are written as %XX.
std::string uri_of_finished(const fs::path& file) {
  std::string uri = "file:";
  for (const char c : fs::absolute(file).string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '/' || c == '.' || c == '-' || c == '_') {
      uri += c;
    } else {
      char escaped[4];
      std::snprintf(escaped, sizeof escaped, "%%%02X", unsigned(byte));
      uri += escaped;
    }
  }
  return uri + "?immutable=1&mode=ro";
}

bool is_empty_database(const fs::path& file) {
  sqlite3* handle = nullptr;
  sqlite3_stmt* tables = nullptr;
  const bool is_empty =
      sqlite3_open_v2(uri_of_finished(file).c_str(), &handle,
                      SQLITE_OPEN_URI | SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
      sqlite3_prepare_v2(handle, "SELECT 1 FROM sqlite_master", -1, &tables, nullptr) ==
          SQLITE_OK &&
      sqlite3_step(tables) == SQLITE_DONE;
  sqlite3_finalize(tables);
  sqlite3_close(handle);
  return is_empty;
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
Database::~Database() = default;
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;

Database::Database(const fs::path& file, Open how, std::optional<Schema> schema)
    : file_(file.string()) {
  check_file(file_, how);
  const bool may_be_new = how == Open::create || how == Open::scratch;
  sqlite3* handle = nullptr;
  // URIs are used to attach other databases and to open finished ones.
  const int flags = SQLITE_OPEN_URI |
                    (how == Open::finished ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                    (may_be_new ? SQLITE_OPEN_CREATE : 0);
  // Absolute, because SQLite treats names such as :memory: specially.
  const std::string path =
      how == Open::finished ? uri_of_finished(file) : fs::absolute(file).string();
  errno = 0;  // read by fail_sqlite
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail_sqlite(handle, file_, code);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  run("PRAGMA foreign_keys = ON");
  run("PRAGMA temp_store = MEMORY");
  // The largest page size of SQLite, for a new file: a blob of features is a megabyte and is read
  // and written faster than in pages of 4 KB (docs/colmap.md).
  run("PRAGMA page_size = 65536");
  const bool has_tables = check_tables();
  if (!may_be_new && !has_tables) {
    fail(ErrorCode::io, file_, ": has no tables yet; extract a folder of images into it first");
  }
  if (has_tables) require_schema(schema);
  if (how == Open::scratch) use_no_log();
  if (how == Open::existing || how == Open::create) use_log();
  if (!has_tables) {
    make_tables(schema.value_or(Schema::colmap_3_8));
    require_schema(schema);  // another process may have made them
  }
  descriptors_have_type_ =
      finds("SELECT 1 FROM pragma_table_info('descriptors') WHERE name = 'type'");
  find_two_view_columns();
  // If images have no frames yet, COLMAP 4.x creates them for all images when it opens the
  // database.
  images_have_frames_ =
      finds("SELECT 1 FROM sqlite_master WHERE name = 'frames'") &&
      (finds("SELECT 1 FROM frames LIMIT 1") ||
       (this->schema() == Schema::colmap_4 && !finds("SELECT 1 FROM images LIMIT 1")));
}

// 4.x is recognised by its pose priors, which have ids of their own since 4.0.
Schema Database::schema() const {
  return finds("SELECT 1 FROM pragma_table_info('pose_priors') WHERE name = 'pose_prior_id'")
             ? Schema::colmap_4
             : Schema::colmap_3_8;
}

bool Database::finds(const char* sql) const { return Statement(*this, sql).next(); }

// A log of up to 64 MB: the process waits for the disk at checkpoints, not at every commit.
void Database::use_log() {
  // SQLite waits here for programs that read or write, but not for one that changes the journal
  // mode too.
  const core::Stopwatch watch;
  for (;;) {
    errno = 0;  // read by fail_sqlite
    const int code =
        sqlite3_exec(handle_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) break;
    if (code != SQLITE_BUSY || watch.milliseconds() >= kBusyMilliseconds) {
      fail_sqlite(handle_.get(), file_, code);
    }
    sqlite3_sleep(100);
  }
  run("PRAGMA synchronous = NORMAL");
  Statement size(*this, "PRAGMA page_size");
  size.next();
  constexpr std::int64_t kLogBytes = 64 << 20;
  const std::int64_t pages = kLogBytes / size.integer(0);
  run(text("PRAGMA wal_autocheckpoint = ", pages).c_str());
}

// Transactions can still be rolled back, from memory.
void Database::use_no_log() {
  run("PRAGMA journal_mode = MEMORY");
  run("PRAGMA synchronous = OFF");
  run("PRAGMA locking_mode = EXCLUSIVE");
}

void Database::run(const char* sql) {
  errno = 0;  // read by fail_sqlite
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail_sqlite(handle_.get(), file_, code);
}

// A file without tables is about to become a database; one with tables must have COLMAP's.
bool Database::check_tables() {
  if (!finds("SELECT 1 FROM sqlite_master WHERE type = 'table'")) return false;
  for (const char* table : kTableNames) {
    Statement found(*this, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
    const std::string name = table;
    if (!found.bind(name).next()) {
      fail(ErrorCode::io, file_, ": is a database of another kind, without the table ", name,
           "; choose another name");
    }
  }
  return true;
}

void Database::require_schema(std::optional<Schema> wanted) const {
  if (!wanted || *wanted == schema()) return;
  fail(ErrorCode::invalid_argument, file_, ": has the tables of COLMAP ",
       *wanted == Schema::colmap_4 ? "3" : "4",
       " already; leave the option schema out, or begin a new database");
}

void Database::make_tables(Schema schema) {
  Transaction transaction(*this);
  if (check_tables()) return;
  run(tables_of(schema));
  make_record_tables();
  transaction.commit();
}

Database::Transaction::Transaction(Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

Database::Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Database::Transaction::commit() {
  // With a write-ahead log SQLite does not notice it itself.
  int has_moved = 0;
  if (sqlite3_file_control(database_.handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) ==
          SQLITE_OK &&
      has_moved) {
    fail(ErrorCode::io, database_.file_,
         ": was removed or replaced while it was written. What is in ", database_.file_,
         "-wal belongs to the old file: if that was moved, move this beside it, under its name; "
         "otherwise delete it and ",
         database_.file_, "-shm. Then run the command again");
  }
  database_.run("COMMIT");
  open_ = false;
}

std::int64_t Database::count(const std::string& table) const {
  require(std::find(std::begin(kTableNames), std::end(kTableNames), table) != std::end(kTableNames),
          "a COLMAP database has no table ", table);
  Statement row(*this, ("SELECT COUNT(*) FROM " + table).c_str());
  return row.next() ? row.integer(0) : 0;
}

std::int64_t Database::data_version() const {
  Statement row(*this, "PRAGMA data_version");
  return row.next() ? row.integer(0) : 0;
}

std::int64_t Database::total(const std::string& table) const {
  require(table == "keypoints" || table == "descriptors" || table == "matches" ||
              table == "two_view_geometries",
          "a table of rows is keypoints, descriptors, matches or two_view_geometries, not ", table);
  Statement row(*this,
                ("SELECT CAST(TOTAL(rows) AS INTEGER) FROM " + table + " WHERE rows > 0").c_str());
  return row.next() ? row.integer(0) : 0;
}

}  // namespace cornea::colmap
