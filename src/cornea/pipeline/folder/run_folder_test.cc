// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/run_folder.h"

#include <algorithm>
#include <fstream>
#include <numeric>

#include "cornea/pipeline/folder/folder_testing.h"

namespace cornea {
namespace {

using namespace testing;

// Overlapping windows on one wall, each one step to the right of the previous one; the last image
// shows something else.
class RunFolder : public OnEveryDevice {
 protected:
  static constexpr int kWindows = 8;

  void SetUp() override {
    fs::create_directories(images);
    const Image<std::uint8_t> wall = smooth_noise(160 + 24 * kWindows, 120, 3);
    for (int i = 0; i < kWindows; ++i) write_window(images / text("w", i, ".png"), wall, 24 * i);
    write_window(images / "x.png", smooth_noise(160, 120, 4), 0);
  }

  Database made(const std::string& name) const {
    return Database(folder / name, Database::Open::create);
  }
  static FolderOptions retrieving() {
    return {.pairs = {.choice = PairChoice::retrieve,
                      .retrieve = {.neighbours = 2, .words = 64},
                      .further = 2}};
  }

  const TemporaryFolder folder;
  const fs::path images = folder / "images";
};

TEST_P(RunFolder, WithAllPairsEqualsTheThreeSteps) {
  Database one = made("one.db"), three = made("three.db");
  const FolderReport report = run_folder(context, images, one);
  extract_folder(context, images, three);
  match_all(context, three);
  verify_all(context, three);
  EXPECT_TRUE(dump(one) == dump(three));
  const std::string layout = "SELECT type, name, sql FROM sqlite_master ORDER BY name";
  EXPECT_EQ(rows_of(one.file(), layout), rows_of(three.file(), layout));
  EXPECT_EQ(report.chosen.choice, PairChoice::all);
  EXPECT_EQ(report.tried, 36);
  EXPECT_EQ(report.images, kWindows + 1);
  EXPECT_EQ(report.components, std::vector<int>{kWindows});
  EXPECT_EQ(report.unconnected, std::vector<std::string>{"x.png"});
  EXPECT_EQ(report.failures(), 0);
  EXPECT_TRUE(report.did_something());
}

TEST_P(RunFolder, ASecondRunDoesNothing) {
  for (const FolderOptions& options : {FolderOptions{}, retrieving()}) {
    Database database = made(text(name(options.pairs.choice)));
    const FolderReport first = run_folder(context, images, database, options);
    const Tables before = dump(database);
    const FolderReport again = run_folder(context, images, database, options);
    EXPECT_FALSE(again.did_something());
    EXPECT_EQ(again.extract.skipped, kWindows + 1);
    EXPECT_EQ(again.verified, first.verified);
    EXPECT_TRUE(dump(database) == before);
  }
}

TEST_P(RunFolder, NeighboursOfNeighboursAreTriedInOneFurtherRound) {
  Database database = made("c.db");
  FolderOptions options = retrieving();
  options.pairs.further = 0;
  const FolderReport first = run_folder(context, images, database, options);
  EXPECT_EQ(first.further(), 0);
  EXPECT_EQ(first.tried, first.chosen.count);
  options.pairs.further = 2;
  const FolderReport both = run_folder(context, images, database, options);
  EXPECT_GT(both.further(), 0);
  EXPECT_EQ(both.tried, both.chosen.count + both.further());
  EXPECT_GT(both.verified, first.verified);
}

TEST_P(RunFolder, StoppedAnywhereItContinuesToTheSameContents) {
  for (const FolderOptions& options : {FolderOptions{}, retrieving()}) {
    const std::string choice(name(options.pairs.choice));
    Database whole = made(choice + ".whole");
    int questions = 0;
    FolderRunEvents events;
    events.steps.stop = [&] { return ++questions, false; };
    run_folder(context, images, whole, options, events);
    const Tables expected = dump(whole);
    ASSERT_GT(questions, 20);
    int stopped = 0;
    for (int k = 1; k <= questions; k += 1 + questions / 14) {
      SCOPED_TRACE(text(choice, ", stopped at question ", k, " of ", questions));
      Database database = made(text(choice, ".", k));
      int asked = 0;
      events.steps.stop = [&] { return ++asked >= k; };
      stopped += run_folder(context, images, database, options, events).stopped;
      EXPECT_FALSE(run_folder(context, images, database, options).stopped);
      EXPECT_TRUE(dump(database) == expected);
    }
    EXPECT_GE(stopped, 5);
  }
}

TEST_P(RunFolder, OtherOptionsStopBeforeAnythingIsWritten) {
  Database database = made("c.db");
  run_folder(context, images, database);
  const Tables before = dump(database);
  write_image(images / "new.png", smooth_noise(160, 120, 9));
  for (const FolderOptions& options :
       {FolderOptions{.match = {.ratio = 0.7f}}, FolderOptions{.verify = {.min_inliers = 30}}}) {
    try {
      run_folder(context, images, database, options);
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("made with other options"), std::string::npos)
          << error.what();
    }
    EXPECT_TRUE(dump(database) == before);
  }
}

TEST_P(RunFolder, OtherOptionsMakeAllPairsAgainIfAsked) {
  FolderOptions options = retrieving();
  Database database = made("c.db"), fresh = made("fresh.db");
  run_folder(context, images, database, options);
  options.match.ratio = 0.7f;
  options.verify.min_inliers = 20;
  options.changed = Changed::redo;
  run_folder(context, images, database, options);
  run_folder(context, images, fresh, options);
  EXPECT_TRUE(dump(database) == dump(fresh));
  // With `keep` the old pairs stay, and a later run with default options does not mention them
  // again.
  options.match.ratio = 0.8f;
  options.changed = Changed::keep;
  const Tables before = dump(database);
  EXPECT_FALSE(run_folder(context, images, database, options).did_something());
  EXPECT_TRUE(dump(database) == before);
}

TEST_P(RunFolder, DeletingPairsIsSomethingDone) {
  Database database = made("c.db");
  run_folder(context, images, database, retrieving());
  FolderOptions options = retrieving();
  options.match.ratio = 0.7f;
  options.changed = Changed::redo;
  options.pairs = {.choice = PairChoice::listed, .list = folder / "none.txt"};
  std::ofstream(folder / "none.txt") << "# none\n";
  const FolderReport report = run_folder(context, images, database, options);
  EXPECT_EQ(database.count("matches"), 0);
  EXPECT_GT(report.deleted, 0);
  EXPECT_TRUE(report.did_something());
}

TEST_P(RunFolder, RedoDoesEverythingAgain) {
  Database database = made("c.db");
  run_folder(context, images, database, retrieving());
  const Tables before = dump(database);
  FolderOptions options = retrieving();
  options.redo = true;
  const FolderReport report = run_folder(context, images, database, options);
  EXPECT_EQ(report.extract.redone, kWindows + 1);
  EXPECT_EQ(report.match.matched, report.chosen.count);
  EXPECT_TRUE(dump(database) == before);
}

TEST_P(RunFolder, AnImageThatIsAddedIsJoinedToTheRest) {
  Database database = made("c.db");
  const FolderReport first = run_folder(context, images, database, retrieving());
  const Image<std::uint8_t> wall = smooth_noise(160 + 24 * kWindows, 120, 3);
  write_window(images / "y.png", wall, 24 * kWindows - 12);
  const FolderReport second = run_folder(context, images, database, retrieving());
  EXPECT_EQ(second.extract.extracted, 1);
  EXPECT_FALSE(second.chosen.remembered);
  EXPECT_GT(second.components.front(), first.components.front());
}

TEST_P(RunFolder, StagesAreReportedInOrderWithTheWorkLeft) {
  Database database = made("c.db");
  std::vector<FolderStage> stages;
  std::vector<std::int64_t> matches;
  FolderRunEvents events;
  events.stage = [&](FolderStage stage, const FolderAhead& ahead) {
    stages.push_back(stage);
    matches.push_back(ahead.matches);
  };
  run_folder(context, images, database, {}, events);
  EXPECT_EQ(stages, (std::vector{FolderStage::extract, FolderStage::choose, FolderStage::match,
                                 FolderStage::verify}));
  EXPECT_EQ(matches, (std::vector<std::int64_t>{36, 36, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(, RunFolder, every_device(), device_name);

}  // namespace
}  // namespace cornea
