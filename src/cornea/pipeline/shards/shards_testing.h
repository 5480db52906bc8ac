// SPDX-License-Identifier: Apache-2.0
// Photographs in shards, for the tests of shards.h.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "cornea/pipeline/folder/folder_testing.h"
#include "cornea/pipeline/shards/shards.h"

namespace cornea::testing {

// Overlapping windows on two walls, each window one step to the right of the previous one, and an
// image that shows neither wall.
class Shards : public ::testing::Test {
 protected:
  static constexpr int kWindows = 6;

  void SetUp() override {
    fs::create_directories(photos / "b c");
    for (int wall = 0; wall < 2; ++wall) {
      const Image<std::uint8_t> pixels =
          smooth_noise(160 + 24 * kWindows, 120, std::uint64_t(3 + wall));
      for (int i = 0; i < kWindows; ++i) {
        write_window(photos / text(wall == 0 ? "a" : "b c/it's 100% \xc3\xbc ", i, ".png"), pixels,
                     24 * i);
      }
    }
    write_window(photos / "x.png", smooth_noise(160, 120, 9), 0);
  }

  ShardOptions options(PairChoice choice = PairChoice::retrieve) const {
    ShardOptions options;
    options.folder.pairs = {
        .choice = choice, .retrieve = {.neighbours = 2, .words = 64}, .further = 2};
    options.block_images = 5;
    options.block_pairs = 7;
    options.local = folder / "local";
    return options;
  }
  // Runs all open items, the last first, to show that their order does not matter.
  std::vector<ShardItemReport> run_steps(const ShardOptions& options, int first = 0) {
    std::vector<ShardItemReport> reports;
    const ShardPlan plan = read_shard_plan(work);
    for (int step = first; step < kShardSteps; ++step) {
      for (int k = count_items(work, plan, ShardStep(step), options); k >= 1; --k) {
        reports.push_back(
            run_shard_item(context, work, {ShardStep(step), k}, options, recorded.events()));
      }
    }
    return reports;
  }
  // Every table of a database, read with plain SQL instead of our own code.
  static Tables everything(const fs::path& file) {
    Tables all;
    for (const std::string& row :
         rows_of(file, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")) {
      const std::string table = row.substr(row.rfind(':') + 1);
      all[table] = rows_of(file, "SELECT * FROM " + table + " ORDER BY 1, 2");
    }
    return all;
  }
  Tables single(const ShardOptions& options) const {
    const fs::path file = folder / "single.db";
    fs::remove(file);
    {
      Database database(file, Database::Open::create, options.schema);
      run_folder(context, photos, database, options.folder);
    }
    return everything(file);
  }
  Tables merged(const ShardOptions& options, const MergeOptions& merge = {}) {
    report = merge_shards(work, folder / "merged.db", options, merge, recorded.events());
    return everything(folder / "merged.db");
  }
  static void expect_equal(const Tables& a, const Tables& b) {
    for (const auto& [table, rows] : a) {
      const auto other = b.find(table);
      EXPECT_TRUE(other != b.end() && other->second == rows) << table << " " << rows.size();
    }
    EXPECT_EQ(a.size(), b.size());
  }
  fs::path file_of(ShardStep step, int number) const {
    for (const auto& entry : fs::directory_iterator(work / name(step))) {
      if (std::atoi(entry.path().filename().c_str()) == number) return entry.path();
    }
    return {};
  }

  const Context context = Context::cpu(2);
  const TemporaryFolder folder;
  const fs::path photos = folder / "photos", work = folder / "work";
  RecordedEvents recorded;
  MergeReport report;
};

}  // namespace cornea::testing
