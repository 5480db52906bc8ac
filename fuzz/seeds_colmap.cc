// SPDX-License-Identifier: Apache-2.0
// COLMAP databases, written by Cornea and then converted to SQLite's smallest page size, and the
// lists and rows for the related harnesses.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <sqlite3.h>

#include "cornea/export/colmap/database.h"
#include "fuzz/harness.h"
#include "fuzz/seeds.h"

namespace cornea::fuzz {
namespace {

namespace fs = std::filesystem;

Features some_features(int count) {
  Features features;
  for (int i = 0; i < count; ++i) {
    features.keypoints.push_back({.x = float(i), .y = 2.5f * float(i), .scale = 2, .angle = 1});
  }
  features.descriptors = pattern(std::size_t(count) * Features::kLength);
  return features;
}

void fill(colmap::Database& database) {
  const colmap::Id camera =
      database.add_camera({.width = 640, .height = 480, .params = {768, 320, 240, 0}});
  const colmap::Id first = database.add_image("a.png", camera);
  const colmap::Id second = database.add_image("folder/b 1.png", camera);
  database.add_image("without features.png", camera);
  database.write_features(first, some_features(2));
  database.write_features(second, some_features(1));
  database.write_matches({first, second}, std::vector<colmap::IndexPair>{{0, 0}});
  database.write_matches({first, 3}, {});
  colmap::TwoViewRow row;
  row.configuration = colmap::Configuration::planar;
  row.inliers = {{0, 0}};
  row.F = {0, -1, 2, 1, 0, -3, -2, 3, 0};
  row.H = {1, 0, 4, 0, 1, 5, 0, 0, 1};
  database.write_two_view(colmap::pair_id({first, second}), row);
}

ByteVector with_small_pages(const fs::path& file) {
  sqlite3* connection = nullptr;
  sqlite3_open(file.c_str(), &connection);
  const int code =
      sqlite3_exec(connection, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM",
                   nullptr, nullptr, nullptr);
  sqlite3_close(connection);
  must(code == SQLITE_OK, "SQLite changes the size of the pages");
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

ByteVector database_bytes(bool filled) {
  std::string folder = (fs::temp_directory_path() / "cornea_seed_XXXXXX").string();
  must(::mkdtemp(folder.data()) != nullptr, "a temporary folder can be made");
  const fs::path file = fs::path(folder) / "seed.db";
  {
    colmap::Database database(file, colmap::Database::Open::create);
    if (filled) fill(database);
  }
  ByteVector bytes = with_small_pages(file);
  fs::remove_all(folder);
  return bytes;
}

}  // namespace

void add_colmap_seeds(Seeds& seeds) {
  seeds.add("colmap_file", "empty", database_bytes(false));
  seeds.add_and_damaged("colmap_file", "filled", database_bytes(true));
  for (std::size_t bytes : {16, 100, 400, 1600}) {
    seeds.add("colmap_rows", text("pattern", bytes), pattern(bytes));
  }
  seeds.add("pair_list", "plain", "# two names per line\na b\n\nb\ta\r\n");
  seeds.add("pair_list", "spaces", "folder/view 1.png 1.png\na b a\nview 1.png a b\n");
  seeds.add("pair_list", "refused", "a a\na c\nnobody knows these\n");
}

}  // namespace cornea::fuzz
