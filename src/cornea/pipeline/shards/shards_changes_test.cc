// SPDX-License-Identifier: Apache-2.0
// Collections whose photographs, lists, options and files change between the steps.
#include <algorithm>
#include <chrono>
#include <fstream>

#include "cornea/io/file_testing.h"
#include "cornea/pipeline/shards/shards.h"
#include "cornea/pipeline/shards/shards_testing.h"

namespace cornea {
namespace {

using namespace testing;

TEST_F(Shards, StatusDoesNotCountWhatFollowsFromAnOldChoice) {
  const fs::path broken = photos / "a2.png", aside = folder / "aside.png";
  write_shard_plan(work, plan_shards(photos, {}, 4));
  fs::rename(broken, aside);
  run_steps(options());
  EXPECT_TRUE(shard_status(work, options()).done());
  fs::rename(file_of(ShardStep::extract, 2), folder / "shard");
  ShardStatus status = shard_status(work, options());
  EXPECT_FALSE(status.done());
  EXPECT_EQ(status.steps[0].open, std::vector<int>{2});
  EXPECT_TRUE(status.steps[1].open.empty());  // the missing shard may be made as it was
  EXPECT_TRUE(status.steps[2].known);
  EXPECT_TRUE(status.damaged.empty());
  EXPECT_FALSE(run_shard_item(context, work, {ShardStep::extract, 2}, options()).already);
  EXPECT_TRUE(shard_status(work, options()).done());
  fs::rename(aside, broken);
  ShardOptions again = options();
  again.redo = true;
  run_shard_item(context, work, {ShardStep::extract, 1}, again);
  status = shard_status(work, options());
  EXPECT_EQ(status.steps[1].open, std::vector<int>{1});
  for (int step = 2; step < kShardSteps; ++step) EXPECT_FALSE(status.steps[step].known) << step;
}

TEST_F(Shards, AFolderThatIsNotHereGivesNoShard) {
  write_shard_plan(work, plan_shards(photos, {}, 4));
  fs::rename(photos, folder / "elsewhere");
  EXPECT_THROW(run_shard_item(context, work, {}, options()), Error);
  EXPECT_FALSE(fs::exists(work / "extract"));
  EXPECT_EQ(run_shard_item(context, work, {}, options(), {}, folder / "elsewhere").images, 4);
}

// A process that was taken for lost may have finished an item too.
TEST_F(Shards, OfTwoFilesOfAnItemTheOneWithFewerFailuresIsTaken) {
  const fs::path broken = photos / "a2.png", aside = folder / "aside.png";
  write_shard_plan(work, plan_shards(photos, {}, 4));
  fs::rename(broken, aside);
  const fs::path worse = run_shard_item(context, work, {}, options()).file;
  fs::rename(worse, folder / "worse");
  fs::rename(aside, broken);
  run_steps(options());
  const Tables before = merged(options());
  fs::copy_file(folder / "worse", worse);
  expect_equal(merged(options()), before);
  EXPECT_TRUE(shard_status(work, options(), true).done());
  ShardOptions again = options();
  again.redo = true;
  const fs::path made = run_shard_item(context, work, {}, again).file;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(work / "extract")) {
    files += std::atoi(entry.path().filename().c_str()) == 1;
  }
  EXPECT_EQ(files, 1);
  EXPECT_EQ(file_of(ShardStep::extract, 1), made);
  expect_equal(merged(options()), before);
}

TEST_F(Shards, ChangedListsAndCamerasChangeTheChoice) {
  const fs::path list = folder / "pairs.txt";
  std::ofstream(list) << "a0.png a1.png\n";
  ShardOptions asked = options(PairChoice::listed);
  asked.folder.pairs.list = list;
  write_shard_plan(work, plan_shards(photos, {}, 4));
  run_steps(asked);
  merged(asked);
  EXPECT_EQ(report.pairs, 1);
  std::ofstream(list) << "a0.png a1.png\na1.png a2.png\n";
  EXPECT_EQ(shard_status(work, asked).steps[1].open, std::vector<int>{1});
  run_steps(asked);
  expect_equal(merged(asked), single(asked));
  EXPECT_EQ(report.pairs, 2);
  fs::remove(list);  // only choosing needs it
  EXPECT_TRUE(shard_status(work, asked).done());
  merged(asked);
  EXPECT_EQ(report.pairs, 2);
  std::ofstream(list) << "a0.png a1.png\na1.png a2.png\n";
  asked.folder.extract.cameras = CameraSharing::single;
  run_steps(asked);
  expect_equal(merged(asked), single(asked));
  EXPECT_EQ(report.cameras, 1);
}

TEST_F(Shards, AStoppedMergeChangesNothing) {
  write_shard_plan(work, plan_shards(photos, {}, 4));
  run_steps(options());
  const Tables before = merged(options());
  const auto time = fs::last_write_time(folder / "merged.db");
  FolderEvents events;
  for (const int most : {0, 2, 5}) {
    int questions = 0;
    events.stop = [&] { return ++questions > most; };
    EXPECT_TRUE(merge_shards(work, folder / "merged.db", options(),
                             {.by_component = folder / "parts"}, events)
                    .stopped);
    EXPECT_EQ(fs::last_write_time(folder / "merged.db"), time);
  }
  EXPECT_TRUE(fs::is_empty(folder / "local"));
  EXPECT_THROW(merge_shards(work, folder / "nowhere" / "merged.db", options()), Error);
  std::ofstream(folder / "file") << "no folder";
  EXPECT_THROW(
      merge_shards(work, folder / "merged.db", options(), {.by_component = folder / "file"}),
      Error);
  EXPECT_EQ(fs::last_write_time(folder / "merged.db"), time);
}

TEST_F(Shards, MergingAgainRemovesComponentsThatAreNoMore) {
  write_shard_plan(work, plan_shards(photos, {}, 4));
  run_steps(options());
  fs::create_directories(folder / "parts");
  for (const char* old : {"component_0003.db", "component_0007.db", "component_10000.db",
                          "component_3.db", "other.db"}) {
    std::ofstream(folder / "parts" / old) << "old";
  }
  std::ofstream(folder / "elsewhere.db");
  fs::create_symlink(folder / "elsewhere.db", folder / "parts" / "component_0001.db");
  merged(options(), {.by_component = folder / "parts"});
  EXPECT_TRUE(fs::is_symlink(folder / "parts" / "component_0001.db"));
  EXPECT_GT(fs::file_size(folder / "elsewhere.db"), 0u);
  EXPECT_TRUE(fs::exists(folder / "parts" / "component_0002.db"));
  EXPECT_FALSE(fs::exists(folder / "parts" / "component_0003.db"));
  EXPECT_FALSE(fs::exists(folder / "parts" / "component_0007.db"));
  EXPECT_FALSE(fs::exists(folder / "parts" / "component_10000.db"));
  EXPECT_TRUE(fs::exists(folder / "parts" / "component_3.db"));
  EXPECT_TRUE(fs::exists(folder / "parts" / "other.db"));
}

// A repaired photograph changes a shard; pairs that were chosen from the old shard must not be
// used.
TEST_F(Shards, AChangedShardIsNotMatchedByAnOldChoice) {
  const fs::path broken = photos / "a2.png", aside = folder / "aside.png";
  write_shard_plan(work, plan_shards(photos, {}, 4));
  fs::rename(broken, aside);
  run_steps(options());
  fs::rename(aside, broken);
  ShardOptions again = options();
  again.redo = true;
  EXPECT_TRUE(run_shard_item(context, work, {ShardStep::extract, 1}, again).failed.empty());
  again.redo = false;
  fs::remove_all(work / "match");
  bool refused = false;
  for (int k = 1; k <= count_items(work, read_shard_plan(work), ShardStep::match, again); ++k) {
    try {
      run_shard_item(context, work, {ShardStep::match, k}, again);
    } catch (const Error& error) {
      refused = std::string(error.what()).find("choose the pairs again") != std::string::npos;
    }
  }
  EXPECT_TRUE(refused);
  run_steps(again, 1);
  expect_equal(merged(again), single(again));
}

// A log that a killed process left beside the old file must not be replayed into the new one.
TEST_F(Shards, MergingReplacesADatabaseWithItsLog) {
  write_shard_plan(work, plan_shards(photos, {}, 7));
  run_steps(options(PairChoice::sequential));
  const fs::path file = folder / "merged.db";
  fs::path kept = folder / "kept-wal";
  {
    Database old(file, Database::Open::create);
    Database::Transaction transaction(old);
    old.add_image("old.png", old.add_camera({.width = 1, .height = 1}));
    transaction.commit();
    fs::copy_file(file.string() + "-wal", kept);
    fs::copy_file(file, folder / "kept.db");
  }
  // As a killed process leaves it: the tables are in the log.
  fs::copy_file(folder / "kept.db", file, fs::copy_options::overwrite_existing);
  fs::copy_file(kept, file.string() + "-wal");
  const Tables tables = merged(options(PairChoice::sequential));
  EXPECT_EQ(tables.at("images").size(), std::size_t(2 * kWindows + 1));
  EXPECT_FALSE(fs::exists(file.string() + "-wal"));
}

TEST_F(Shards, MergingReplacesNoOtherDatabaseWithItsLog) {
  write_shard_plan(work, plan_shards(photos, {}, 7));
  run_steps(options(PairChoice::sequential));
  const fs::path file = folder / "merged.db", log = file.string() + "-wal";
  std::ofstream(file) << "no database";
  std::ofstream(log) << "nor its log";
  expect_error(ErrorCode::io, "merged.db", [&] { merged(options(PairChoice::sequential)); });
  EXPECT_TRUE(fs::exists(log));
  EXPECT_EQ(fs::file_size(file), 11u);
}

TEST_F(Shards, MergingFollowsALinkToTheDatabase) {
  write_shard_plan(work, plan_shards(photos, {}, 7));
  run_steps(options(PairChoice::sequential));
  const fs::path elsewhere = folder / "large disk";
  fs::create_directories(elsewhere);
  std::ofstream(elsewhere / "real.db");
  fs::create_symlink(elsewhere / "real.db", folder / "merged.db");
  const Tables tables = merged(options(PairChoice::sequential));
  EXPECT_TRUE(fs::is_symlink(folder / "merged.db"));
  expect_equal(everything(elsewhere / "real.db"), tables);
  EXPECT_EQ(std::distance(fs::directory_iterator(elsewhere), {}), 1);
  // The same if no database is there yet.
  fs::remove(elsewhere / "real.db");
  merged(options(PairChoice::sequential));
  EXPECT_TRUE(fs::is_symlink(folder / "merged.db"));
  expect_equal(everything(elsewhere / "real.db"), tables);
  EXPECT_EQ(std::distance(fs::directory_iterator(elsewhere), {}), 1);
  // A link into a folder that is not there is refused before any work.
  fs::remove(folder / "merged.db");
  fs::create_symlink(folder / "gone" / "real.db", folder / "merged.db");
  recorded = {};
  expect_error(ErrorCode::io, "gone: is not a folder",
               [&] { merged(options(PairChoice::sequential)); });
  EXPECT_TRUE(recorded.totals.empty());
}

TEST_F(Shards, MergingIntoTheCurrentFolderRemovesPartsOfKilledMerges) {
  write_shard_plan(work, plan_shards(photos, {}, 7));
  run_steps(options(PairChoice::sequential));
  const fs::path here = folder / "here", before = fs::current_path();
  fs::create_directories(here);
  const fs::path old = here / ".cornea-0123.part", young = here / ".cornea-4567.part";
  std::ofstream(old) << "half";
  std::ofstream(young) << "half";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(30));
  fs::current_path(here);
  EXPECT_NO_THROW(merge_shards(fs::absolute(work), "scene.db", options(PairChoice::sequential)));
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(here / "scene.db"));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(Shards, TrafficOfInvalidOptionsIsRefused) {
  write_shard_plan(work, plan_shards(photos, {}, 7));
  ShardOptions none = options(PairChoice::sequential);
  none.block_pairs = 0;
  EXPECT_THROW(shard_traffic(work, none), Error);
}

TEST_F(Shards, MergingReportsItsWholeProgressAndRefusesToWriteNothing) {
  for (int i = 0; i < kWindows; ++i) std::ofstream(photos / text("a", i, ".png")) << "damaged";
  write_shard_plan(work, plan_shards(photos, {}, 3));
  run_steps(options(PairChoice::sequential));  // two shards without an image
  recorded = {};
  merged(options(PairChoice::sequential));
  ASSERT_EQ(recorded.totals.size(), 1u);
  EXPECT_EQ(recorded.advanced, recorded.totals[0]);
  expect_error(ErrorCode::invalid_argument, "by_component", [&] {
    merge_shards(work, folder / "merged.db", options(PairChoice::sequential), {.whole = false});
  });
}

TEST_F(Shards, APhotographThatChangedAfterItsShardWasMadeIsNamed) {
  write_shard_plan(work, plan_shards(photos, {}, 40));
  run_shard_item(context, work, {}, options());
  write_window(photos / "a1.png", smooth_noise(400, 120, 5), 77);
  fs::remove(photos / "a3.png");
  const ShardItemReport chosen = run_shard_item(context, work, {ShardStep::choose, 1}, options());
  ASSERT_EQ(chosen.failed.size(), 1u);
  EXPECT_NE(chosen.failed[0].find("2 photographs have changed since the plan, but not their "
                                  "features: a1.png and others"),
            std::string::npos)
      << chosen.failed[0];
}

TEST_F(Shards, TwoSpellingsOfAFileAreOnePhotograph) {
  const auto names = [&](const char* lines) {
    std::ofstream(folder / "list.txt") << lines;
    std::string all;
    for (const ShardImage& image :
         plan_listed_shards(photos.string(), folder / "list.txt", 4).images) {
      all += image.name + "\n";
    }
    return all;
  };
  EXPECT_EQ(names("5 b c//x.png\n5 b c/./y.png\n"), "b c/x.png\nb c/y.png\n");
  EXPECT_THROW(names("5 b c//x.png\n5 b c/x.png\n"), Error);
}

TEST_F(Shards, MergingReplacesNothingButADatabase) {
  write_shard_plan(work, plan_shards(photos, {}, 7));
  run_steps(options(PairChoice::sequential));
  std::ofstream(folder / "photo.jpg") << "no database";
  for (const fs::path& file :
       {work / "plan.txt", folder / "photo.jpg", file_of(ShardStep::extract, 1),
        file_of(ShardStep::choose, 1), file_of(ShardStep::choose_further, 1)}) {
    const std::uintmax_t bytes = fs::file_size(file);
    EXPECT_THROW(merge_shards(work, file, options(PairChoice::sequential)), Error) << file;
    EXPECT_EQ(fs::file_size(file), bytes);
  }
  EXPECT_NO_THROW(read_shard_plan(work));
  EXPECT_THROW(merge_shards(work, folder / "parts" / "component_0001.db",
                            options(PairChoice::sequential), {.by_component = folder / "parts"}),
               Error);
  std::ofstream(folder / "empty.db");
  EXPECT_GT(merge_shards(work, folder / "empty.db", options(PairChoice::sequential)).bytes, 0);
}

}  // namespace
}  // namespace cornea
