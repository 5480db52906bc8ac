// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/shards/shards.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "cornea/export/colmap/transfer.h"
#include "cornea/pipeline/shards/shards_testing.h"

namespace cornea {
namespace {

using namespace testing;

TEST_F(Shards, MergedDatabaseEqualsThatOfOneRun) {
  for (const PairChoice choice :
       {PairChoice::retrieve, PairChoice::automatic, PairChoice::all, PairChoice::sequential}) {
    SCOPED_TRACE(name(choice));
    fs::remove_all(work);
    write_shard_plan(work, plan_shards(photos, {}, 4));
    const auto reports = run_steps(options(choice));
    EXPECT_GT(reports.size(), 8u);
    expect_equal(merged(options(choice)), single(options(choice)));
    EXPECT_EQ(report.images, 2 * kWindows + 1);
    EXPECT_EQ(report.components, (std::vector<int>{kWindows, kWindows}));
    EXPECT_EQ(report.unconnected, 1);
    EXPECT_TRUE(recorded.sentences.empty());
  }
  EXPECT_TRUE(fs::is_empty(folder / "local"));
}

TEST_F(Shards, MergedDatabaseEqualsThatOfOneRunWithSchema4AndSharedCameras) {
  for (const CameraSharing sharing : {CameraSharing::single, CameraSharing::per_folder}) {
    fs::remove_all(work);
    ShardOptions asked = options();
    asked.schema = colmap::Schema::colmap_4;
    asked.folder.extract.cameras = sharing;
    write_shard_plan(work, plan_shards(photos, {}, 5));
    run_steps(asked);
    expect_equal(merged(asked), single(asked));
    EXPECT_EQ(report.cameras, sharing == CameraSharing::single ? 1 : 2);
  }
}

TEST_F(Shards, TheMergedDatabaseIsFinishedForARunOverTheFolder) {
  write_shard_plan(work, plan_shards(photos, {}, 4));
  run_steps(options());
  merged(options());
  Database database(folder / "merged.db");
  const FolderReport again = run_folder(context, photos, database, options().folder);
  EXPECT_FALSE(again.did_something());
  EXPECT_TRUE(again.chosen.remembered);
}

TEST_F(Shards, DoneItemsAreLeftAloneAndDamagedOnesMadeAgain) {
  write_shard_plan(work, plan_shards(photos, {}, 4));
  run_steps(options());
  const Tables before = merged(options());
  for (const ShardItemReport& item : run_steps(options())) EXPECT_TRUE(item.already);
  // One file is truncated to half, in another one byte is changed.
  fs::resize_file(file_of(ShardStep::extract, 2),
                  fs::file_size(file_of(ShardStep::extract, 2)) / 2);
  {
    std::fstream change(file_of(ShardStep::match, 1), std::ios::in | std::ios::out);
    change.seekp(70000);
    change.put('!');
  }
  EXPECT_THROW(merged(options()), Error);
  const ShardStatus status = shard_status(work, options(), true);
  EXPECT_FALSE(status.done());
  EXPECT_EQ(status.steps[0].open, std::vector<int>{2});
  EXPECT_GE(status.damaged.size(), 1u);
  int made = 0;
  for (const ShardItemReport& item : run_steps(options())) {
    made += !item.already;
    EXPECT_EQ(item.damaged, !item.already);
  }
  EXPECT_EQ(made, 2);
  expect_equal(merged(options()), before);
  EXPECT_TRUE(shard_status(work, options(), true).done());
}

TEST_F(Shards, PhotographsThatCannotBeReadAreNamedAndTheRestIsDone) {
  write_shard_plan(work, plan_shards(photos, {}, 4));
  std::ofstream(photos / "a2.png") << "no picture";
  fs::remove(photos / "a4.png");
  write_window(photos / "new.png", smooth_noise(160, 120, 5), 0);
  const auto reports = run_steps(options());
  merged(options());
  EXPECT_EQ(report.images, 2 * kWindows - 1);
  ASSERT_EQ(report.failed.size(), 3u);
  EXPECT_NE(report.failed[0].find("a2.png"), std::string::npos);
  EXPECT_NE(report.failed[1].find("a4.png"), std::string::npos);
  EXPECT_NE(report.failed[2].find("new.png"), std::string::npos);
  // Ids stay those of the plan.
  EXPECT_EQ(rows_of(folder / "merged.db", "SELECT name FROM images WHERE image_id = 4").size(), 1u);
  EXPECT_EQ(rows_of(folder / "merged.db", "SELECT name FROM images WHERE image_id = 3").size(), 0u);
}

TEST_F(Shards, AFileOfAnotherSizeThanPlannedIsNamed) {
  write_shard_plan(work, plan_shards(photos, {}, 40));
  write_window(photos / "a1.png", smooth_noise(400, 120, 5), 77);
  const ShardItemReport done = run_shard_item(context, work, {}, options());
  ASSERT_EQ(done.failed.size(), 1u);
  EXPECT_NE(done.failed[0].find("a1.png"), std::string::npos) << done.failed[0];
  EXPECT_NE(done.failed[0].find("bytes but had"), std::string::npos) << done.failed[0];
  EXPECT_EQ(done.images, 2 * kWindows);
}

TEST_F(Shards, ComponentsAreDatabasesOfTheirOwn) {
  write_shard_plan(work, plan_shards(photos, {}, 4));
  run_steps(options());
  const Tables whole = merged(options(), {.by_component = folder / "parts", .descriptors = false});
  EXPECT_TRUE(whole.at("descriptors").empty());
  std::size_t images = 0, verified = 0;
  for (const char* part : {"component_0001.db", "component_0002.db"}) {
    const Tables tables = everything(folder / "parts" / part);
    images += tables.at("images").size();
    for (const std::string& row : tables.at("two_view_geometries")) {
      EXPECT_EQ(std::count(whole.at("two_view_geometries").begin(),
                           whole.at("two_view_geometries").end(), row),
                1);
    }
    Database database(folder / "parts" / part);
    verified += std::size_t(database.total("two_view_geometries") > 0);
  }
  EXPECT_EQ(images, std::size_t(2 * kWindows));
  EXPECT_EQ(verified, 2u);
  EXPECT_FALSE(fs::exists(folder / "parts" / "component_0003.db"));
}

TEST_F(Shards, APlanIsWrittenOnceAndReadBackWhole) {
  const ShardPlan plan = plan_shards(photos, {}, 4);
  write_shard_plan(work, plan);
  write_shard_plan(work, plan);
  const ShardPlan back = read_shard_plan(work);
  EXPECT_EQ(back.key(), plan.key());
  EXPECT_EQ(back.shards(), 4);
  EXPECT_EQ(back.images[6].name, "b c/it's 100% \xc3\xbc 0.png");
  EXPECT_THROW(write_shard_plan(work, plan_shards(photos, {}, 5)), Error);
  std::ofstream(work / "plan.txt", std::ios::app) << "1 more.png\n";
  EXPECT_THROW(read_shard_plan(work), Error);
  EXPECT_THROW(run_shard_item(context, work, {}, options()), Error);
}

TEST_F(Shards, AListGivesThePlanOfItsFolder) {
  const ShardPlan plan = plan_shards(photos, {}, 4);
  {
    std::ofstream list(folder / "list");
    list << "\xEF\xBB\xBF";  // as Windows writes it
    for (auto it = plan.images.rbegin(); it != plan.images.rend(); ++it) {
      std::string name = it->name;
      if (const std::size_t at = name.find('%'); at != std::string::npos)
        name.replace(at, 1, "%25");
      if ((it - plan.images.rbegin()) % 2) name = "./" + name;  // as find writes it
      list << it->bytes << " " << name << "\r\n";               // as Windows writes it
    }
    list << "5 notes.txt\n7 .hidden/a.png\n9 ._a.png\n9 ..data/a.png\n";
  }
  EXPECT_EQ(plan_listed_shards(plan.photographs, folder / "list", 4).key(), plan.key());
  std::ofstream(folder / "list") << "5 ..a.png\n7 b//c.png\n";
  const ShardPlan odd = plan_listed_shards("s3://bucket", folder / "list", 4);
  ASSERT_EQ(odd.images.size(), 2u);
  EXPECT_EQ(odd.images[0].name, "..a.png");
  EXPECT_EQ(odd.images[1].name, "b//c.png");
  for (const char* outside : {"5 ../a.png\n", "5 a/../../a.png\n", "5 /a.png\n"}) {
    std::ofstream(folder / "list") << outside;
    EXPECT_THROW(plan_listed_shards(plan.photographs, folder / "list", 4), Error) << outside;
  }
  std::ofstream(folder / "list") << "five a.png\n";
  EXPECT_THROW(plan_listed_shards(plan.photographs, folder / "list", 4), Error);
  std::ofstream(folder / "list") << "5 a.png\n5 a.png\n";
  EXPECT_THROW(plan_listed_shards(plan.photographs, folder / "list", 4), Error);
  EXPECT_THROW(plan_listed_shards(plan.photographs, photos, 4), Error);
}

TEST_F(Shards, StepsOutOfOrderAreRefused) {
  write_shard_plan(work, plan_shards(photos, {}, 4));
  EXPECT_THROW(run_shard_item(context, work, {ShardStep::choose, 1}, options()), Error);
  EXPECT_THROW(run_shard_item(context, work, {ShardStep::match, 1}, options()), Error);
  EXPECT_THROW(run_shard_item(context, work, {ShardStep::extract, 0}, options()), Error);
  EXPECT_THROW(run_shard_item(context, work, {ShardStep::extract, 5}, options()), Error);
  EXPECT_THROW(merged(options()), Error);
  EXPECT_FALSE(fs::exists(folder / "merged.db"));
}

TEST_F(Shards, AStoppedItemLeavesNothing) {
  write_shard_plan(work, plan_shards(photos, {}, 4));
  FolderEvents events;
  int questions = 0;
  events.stop = [&] { return ++questions > 2; };
  EXPECT_TRUE(run_shard_item(context, work, {}, options(), events).stopped);
  EXPECT_FALSE(fs::exists(work / "extract"));
}

TEST_F(Shards, TrafficIsKnownBeforehand) {
  // The bytes of an image's keypoints and descriptors.
  const auto stored_bytes = [&](Id image) {
    std::int64_t bytes = 0;
    for (const auto& file : fs::directory_iterator(work / name(ShardStep::extract))) {
      for (const std::string& row :
           rows_of(file.path(),
                   "SELECT LENGTH(k.data) + LENGTH(d.data) FROM keypoints k JOIN "
                   "descriptors d USING (image_id) WHERE image_id = " +
                       std::to_string(image))) {
        bytes += std::stoll(row.substr(row.rfind(':') + 1));
      }
    }
    return bytes;
  };
  write_shard_plan(work, plan_shards(photos, {}, 4));
  const auto before = shard_traffic(work, options());
  ASSERT_EQ(before.size(), std::size_t(kShardSteps));
  std::int64_t bytes = 0;
  for (const ShardImage& image : read_shard_plan(work).images) bytes += image.bytes;
  EXPECT_EQ(before[0].read, bytes);
  EXPECT_FALSE(before[2].exact);
  run_steps(options());
  // What the blocks of the first round read: the bytes that the shards hold for their images.
  std::int64_t read = 0;
  const Database choice(file_of(ShardStep::choose, 1), Database::Open::finished);
  for (int k = 1; k <= colmap::count_blocks(choice); ++k) {
    std::set<Id> images;
    for (const Id pair : colmap::read_block(choice, k).pairs) {
      const auto [first, second] = colmap::pair_of(pair);
      images.insert({first, second});
    }
    for (const Id image : images) read += stored_bytes(image);
  }
  EXPECT_GT(read, 0);
  const auto after = shard_traffic(work, options());
  EXPECT_TRUE(after[2].exact);
  EXPECT_EQ(after[2].read, read);
  EXPECT_LE(after[2].most_read, after[2].read);
}

}  // namespace
}  // namespace cornea
