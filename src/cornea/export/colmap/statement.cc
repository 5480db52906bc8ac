// SPDX-License-Identifier: Apache-2.0
#include "cornea/export/colmap/statement.h"

#include <cerrno>
#include <cstring>

#include "cornea/core/error.h"
#include "cornea/io/whole_file.h"

namespace cornea::colmap {
namespace {

// SQLite reports a full disk only if a write to the file or its log fails that way. The index of
// the log or a user's quota can run out too.
bool is_full(int code, int system) {
  return code == SQLITE_FULL || (code == SQLITE_IOERR && io::is_disk_full(system));
}

}  // namespace

void fail_sqlite(sqlite3* handle, const std::string& file, int code) {
  const int last = errno;
  const std::string said = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  // SQLite keeps the system's error number, but not for a failed commit.
  const int kept = handle ? sqlite3_system_errno(handle) : 0;
  const int system = kept ? kept : last;
  const std::string reason = system ? std::strerror(system) : said;
  code &= 0xff;
  if (is_full(code, system)) {
    fail(ErrorCode::io, file,
         ": the disk is full; free some space and run the command again to continue");
  }
  switch (code) {
    case SQLITE_NOTADB:
      fail(ErrorCode::io, file, ": is not an SQLite database; choose another name");
    case SQLITE_CORRUPT:
      fail(ErrorCode::io, file, ": the database is damaged (", said,
           "); restore a copy of it, or create it again");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail(ErrorCode::io, file,
           ": another program uses the database; wait until it ends, or close it");
    case SQLITE_IOERR:
      fail(ErrorCode::io, file, ": cannot be read or written (", reason,
           "); check the disk and run the command again to continue");
    case SQLITE_CANTOPEN:
      fail(ErrorCode::io, file, ": cannot be opened or created (", reason,
           "); check the folder and its permissions");
    case SQLITE_READONLY:
      fail(ErrorCode::io, file, ": cannot be written; check its permissions");
    case SQLITE_NOMEM:
      // SQLite also reports this for some damaged schemas.
      fail(ErrorCode::out_of_memory, file,
           ": SQLite has no memory left; free memory, or create the database again if it is "
           "damaged");
    default:
      fail(ErrorCode::io, file, ": SQLite says: ", said);
  }
}

Statement::Statement(const Database& database, const char* sql) : database_(database) {
  errno = 0;  // read by fail_sqlite
  check(sqlite3_prepare_v2(database.handle_.get(), sql, -1, &statement_, nullptr));
}

bool Statement::next() {
  errno = 0;  // read by fail_sqlite
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail_sqlite(database_.handle_.get(), database_.file_, code);
  return false;
}

std::string Statement::text(int column) const {
  const auto* begin = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return begin ? std::string(begin, std::size_t(sqlite3_column_bytes(statement_, column)))
               : std::string();
}

std::span<const std::uint8_t> Statement::bytes(int column) const {
  const auto* begin = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
  return {begin, begin ? std::size_t(sqlite3_column_bytes(statement_, column)) : 0};
}

void Statement::check_length(std::size_t bytes, std::int64_t count, std::size_t size,
                             const char* what) const {
  if (count < 0 || std::uint64_t(count) > bytes || bytes != std::size_t(count) * size) {
    if (count == 0 && bytes == 0) return;
    throw DamagedRow(cornea::text(database_.file_, ": ", what, " should have ", count,
                                  " values of ", size, " bytes but have ", bytes,
                                  " bytes in all; that row is damaged"));
  }
}

Statement& Statement::check(int code) {
  if (code != SQLITE_OK) fail_sqlite(database_.handle_.get(), database_.file_, code);
  return *this;
}

}  // namespace cornea::colmap
