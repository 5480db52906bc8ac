// SPDX-License-Identifier: Apache-2.0
// A COLMAP database whose file is intact but whose rows are arbitrary: the input is a list of rows,
// each a table and the values of its columns.
#include <iterator>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

#include "fuzz/colmap.h"

namespace {

using namespace cornea::fuzz;

// COLMAP's tables, without its constraints on the values.
constexpr char kSchema[] =
    "CREATE TABLE cameras(camera_id INTEGER PRIMARY KEY, model, width, height, params, "
    "prior_focal_length);"
    "CREATE TABLE images(image_id INTEGER PRIMARY KEY, name, camera_id);"
    "CREATE TABLE keypoints(image_id INTEGER PRIMARY KEY, rows, cols, data);"
    "CREATE TABLE descriptors(image_id INTEGER PRIMARY KEY, rows, cols, data);"
    "CREATE TABLE matches(pair_id INTEGER PRIMARY KEY, rows, cols, data);"
    "CREATE TABLE two_view_geometries(pair_id INTEGER PRIMARY KEY, rows, cols, data, config, F, E, "
    "H, qvec, tvec)";

class EmptyTables : public MemoryDatabase {
 public:
  EmptyTables() { run(kSchema); }
  void run(const char* sql) const {
    must(sqlite3_exec(connection(), sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql);
  }
};

constexpr const char* kInserts[] = {
    "INSERT OR REPLACE INTO cameras VALUES(?, ?, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO images VALUES(?, ?, ?)",
    "INSERT OR REPLACE INTO keypoints VALUES(?, ?, ?, ?)",
    "INSERT OR REPLACE INTO descriptors VALUES(?, ?, ?, ?)",
    "INSERT OR REPLACE INTO matches VALUES(?, ?, ?, ?)",
    "INSERT OR REPLACE INTO two_view_geometries VALUES(?, ?, ?, ?, ?, ?, NULL, ?, NULL, NULL)"};

// Blobs and texts live as long as this list.
using Blobs = std::vector<std::vector<std::uint8_t>>;

void bind_any(sqlite3_stmt* statement, int column, FuzzedDataProvider& input, Blobs& blobs) {
  switch (input.ConsumeIntegralInRange(0, 4)) {
    case 0:
      sqlite3_bind_int64(statement, column, input.ConsumeIntegral<std::int64_t>());
      break;
    case 1:
      sqlite3_bind_int(statement, column, input.ConsumeIntegral<std::int8_t>());
      break;
    case 2:
      blobs.push_back(input.ConsumeBytes<std::uint8_t>(input.ConsumeIntegral<std::uint8_t>()));
      sqlite3_bind_blob(statement, column, blobs.back().data(), int(blobs.back().size()), nullptr);
      break;
    case 3:
      sqlite3_bind_double(statement, column, input.ConsumeFloatingPoint<double>());
      break;
    default:
      sqlite3_bind_null(statement, column);
  }
}

void insert_row(sqlite3* connection, FuzzedDataProvider& input) {
  sqlite3_stmt* statement = nullptr;
  const char* sql = kInserts[input.ConsumeIntegralInRange<std::size_t>(0, std::size(kInserts) - 1)];
  sqlite3_prepare_v2(connection, sql, -1, &statement, nullptr);
  Blobs blobs;
  for (int i = 1; i <= sqlite3_bind_parameter_count(statement); ++i) {
    bind_any(statement, i, input, blobs);
  }
  sqlite3_step(statement);  // rows that SQLite rejects are skipped
  sqlite3_finalize(statement);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const EmptyTables kTables;
  FuzzedDataProvider input(data, size);
  constexpr int kMostRows = 16;
  kTables.run("BEGIN");
  for (int i = 0; i < kMostRows && input.remaining_bytes() > 0; ++i) {
    insert_row(kTables.connection(), input);
  }
  kTables.run("COMMIT");
  check_database();
  succeeds([] {
    const cornea::colmap::Database database(MemoryDatabase::kName);
    must(database.count("matches") <= kMostRows, "there are no more rows than were written");
  });
  kTables.run(
      "BEGIN; DELETE FROM cameras; DELETE FROM images; DELETE FROM keypoints;"
      "DELETE FROM descriptors; DELETE FROM matches; DELETE FROM two_view_geometries; COMMIT");
  return 0;
}
