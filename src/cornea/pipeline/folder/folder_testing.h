// SPDX-License-Identifier: Apache-2.0
// For tests of a folder in a database: views with known geometry, the three steps on them, the
// reported events, and the contents of the database afterwards.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/export/colmap/sqlite_testing.h"
#include "cornea/io/image_file.h"
#include "cornea/pipeline/folder/extract.h"
#include "cornea/pipeline/folder/match_all.h"
#include "cornea/pipeline/folder/verify.h"
#include "cornea/scene/scene.h"

namespace cornea::testing {

namespace fs = std::filesystem;
using colmap::Database;
using colmap::Id;
using colmap::pair_id;

// The cameras are far enough apart that no plane explains the parallax, even within verify's wide
// threshold.
inline const SceneOptions kScene{
    .views = 3, .width = 320, .height = 240, .step_degrees = 12, .samples = 2};
inline const std::vector<Id> kAllPairs = {pair_id({1, 2}), pair_id({1, 3}), pair_id({2, 3})};

// Rendered once, because the ray caster takes longer than most tests.
inline const std::vector<View>& views() {
  static const std::vector<View> made = make_views(Context::cpu(), kScene);
  return made;
}

// A textured wall in which SIFT finds points; overlapping windows of it can be matched.
inline Image<std::uint8_t> smooth_noise(int width, int height, std::uint64_t seed) {
  Image<std::uint8_t> out(width, height);
  const auto coarse = random_image<std::uint8_t>(width / 6 + 3, height / 6 + 3, seed);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int i = x / 6, j = y / 6, u = x % 6, v = y % 6;
      out(x, y) = std::uint8_t((coarse(i, j) * (6 - u) * (6 - v) + coarse(i + 1, j) * u * (6 - v) +
                                coarse(i, j + 1) * (6 - u) * v + coarse(i + 1, j + 1) * u * v) /
                               36);
    }
  }
  return out;
}

// Writes a window of 160 x 120 pixels of a wall of that height.
inline void write_window(const fs::path& file, const Image<std::uint8_t>& wall, int left) {
  Image<std::uint8_t> out(160, 120);
  for (int y = 0; y < 120; ++y) {
    for (int x = 0; x < 160; ++x) out(x, y) = wall(x + left, y);
  }
  write_image(file, out);
}

// Every row of the six tables, read with plain SQL instead of our own code.
using Tables = std::map<std::string, std::vector<std::string>>;
inline Tables dump(const Database& database) {
  Tables tables;
  for (const std::string table :
       {"cameras", "images", "keypoints", "descriptors", "matches", "two_view_geometries"}) {
    tables[table] = rows_of(database.file(), "SELECT * FROM " + table + " ORDER BY 1");
  }
  return tables;
}

struct Reports {
  ExtractReport extract;
  MatchAllReport match;
  VerifyReport verify;
};

// Records what FolderEvents reported.
struct RecordedEvents {
  std::vector<int> totals;
  int advanced = 0;
  std::vector<std::string> sentences;

  FolderEvents events() {
    return {[this](int total) { totals.push_back(total); },
            [this](int count) { advanced += count; },
            [this](const std::string& sentence) { sentences.push_back(sentence); }};
  }
};

class Folder : public OnEveryDevice {
 protected:
  void SetUp() override {
    fs::create_directories(images);
    for (const View& view : views()) write_image(images / (view.name + ".png"), view.image);
  }
  Database made(const std::string& name = "c.db") const {
    return Database(folder / name, Database::Open::create);
  }
  Reports run_all(const Context& context, Database& database, const ExtractOptions& options = {}) {
    return {extract_folder(context, images, database, options), match_all(context, database),
            verify_all(context, database)};
  }

  const TemporaryFolder folder;
  const fs::path images = folder / "images";
};

}  // namespace cornea::testing
