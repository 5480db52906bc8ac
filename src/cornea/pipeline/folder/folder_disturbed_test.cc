// SPDX-License-Identifier: Apache-2.0
// Tests of a folder whose steps are disturbed: stopped on the way, beside another run that writes
// to the same database, with damaged images and rows, and with options other than those of the last
// run.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cornea/pipeline/folder/folder_testing.h"

namespace cornea {
namespace {

using namespace testing;

TEST_P(Folder, StopsBetweenTwoStepsAndContinues) {
  Database whole = made("whole.db"), stopped = made();
  run_all(context, whole);
  int asked = 0;
  FolderEvents events;
  // The first call of `stop` comes after the comparison with the records, then one before each
  // image.
  events.stop = [&] { return ++asked > 2; };
  const ExtractReport extracted = extract_folder(context, images, stopped, {}, events);
  EXPECT_TRUE(extracted.stopped);
  EXPECT_EQ(extracted.extracted, 1);
  EXPECT_EQ(stopped.count("keypoints"), 1);
  EXPECT_EQ(extract_folder(context, images, stopped).extracted, 2);
  events.stop = [] { return true; };
  const MatchAllReport matched = match_all(context, stopped, {}, events);
  EXPECT_TRUE(matched.stopped);
  EXPECT_EQ(matched.matched, 0);
  EXPECT_FALSE(match_all(context, stopped).stopped);
  asked = 0;
  events.stop = [&] { return ++asked > 1; };
  const VerifyReport verified = verify_all(context, stopped, {}, events);
  EXPECT_TRUE(verified.stopped);
  EXPECT_EQ(verified.general(), 1);
  EXPECT_EQ(stopped.count("two_view_geometries"), 1);
  EXPECT_EQ(verify_all(context, stopped).general(), 2);
  EXPECT_TRUE(dump(stopped) == dump(whole));
}

// Runs `work`, as another process would, after a run has read its input and before it writes.
FolderEvents with_other_run(const std::function<void()>& work) {
  FolderEvents events;
  events.stop = [work, done = std::make_shared<bool>(false)] {
    if (!std::exchange(*done, true)) work();
    return false;
  };
  return events;
}

TEST_P(Folder, FeaturesReplacedMeanwhileAreNotMatched) {
  Database database = made();
  extract_folder(context, images, database);
  const MatchAllReport report =
      match_all(context, database, {}, with_other_run([&] {
                  Database other(database.file());
                  Features features;
                  features.keypoints = {{10, 10, 2, 0, 1, 0}, {20, 20, 2, 0, 1, 0}};
                  features.descriptors.assign(2 * Features::kLength, 7);
                  Database::Transaction transaction(other);
                  other.write_features(1, features);
                  transaction.commit();
                }));
  EXPECT_EQ(report.matched, 1);
  EXPECT_EQ(database.matched_pairs(0, INT64_MAX), (std::vector<Id>{pair_id({2, 3})}));
  EXPECT_EQ(match_all(context, database).matched, 2);
}

TEST_P(Folder, PairsMatchedMeanwhileAreLeftAlone) {
  Database database = made();
  extract_folder(context, images, database);
  const MatchAllReport report = match_all(context, database, {}, with_other_run([&] {
                                            Database other(database.file());
                                            Database::Transaction transaction(other);
                                            other.write_matches({1, 2}, {});
                                            transaction.commit();
                                          }));
  EXPECT_EQ(report.matched, 2);
  EXPECT_EQ(report.skipped, 1);
  EXPECT_TRUE(database.matches(pair_id({1, 2})).empty());
}

// Events of a run of verify that another process disturbs before the third pair: the first two have
// been read and are not yet written.
FolderEvents disturbed_before_third_pair(const fs::path& file,
                                         std::function<void(Database&)> disturb) {
  FolderEvents events;
  events.stop = [file, disturb = std::move(disturb), asked = 0]() mutable {
    if (++asked == 3) {
      Database other(file);
      Database::Transaction transaction(other);
      disturb(other);
      transaction.commit();
    }
    return false;
  };
  return events;
}

TEST_P(Folder, MatchesReplacedMeanwhileAreNotVerified) {
  Database database = made();
  extract_folder(context, images, database);
  match_all(context, database);
  verify_all(context, database, {},
             disturbed_before_third_pair(database.file(), [](Database& other) {
               other.write_matches({1, 2}, {});
             }));
  EXPECT_TRUE(database.matches(pair_id({1, 2})).empty());  // it was disturbed
  EXPECT_FALSE(database.two_view(pair_id({1, 2})).has_value());
  EXPECT_TRUE(database.two_view(pair_id({2, 3})).has_value());
}

// A pair without matches has no geometry once its row was deleted: a later run matches it anew.
TEST_P(Folder, PairsDeletedMeanwhileAreNotVerified) {
  Database database = made();
  extract_folder(context, images, database);
  match_all(context, database);
  {
    Database::Transaction transaction(database);
    database.write_matches({1, 2}, {});
    transaction.commit();
  }
  verify_all(context, database, {},
             disturbed_before_third_pair(database.file(), [](Database& other) {
               other.delete_pair(pair_id({1, 2}));
             }));
  EXPECT_TRUE(database.matched_pairs(pair_id({1, 2}), pair_id({1, 2})).empty());
  EXPECT_FALSE(database.two_view(pair_id({1, 2})).has_value());
  EXPECT_TRUE(database.two_view(pair_id({2, 3})).has_value());
}

TEST_P(Folder, ADamagedImageIsReportedAndTheRestIsDone) {
  const fs::path damaged = images / "view_001b.png";
  fs::copy_file(images / "view_001.png", damaged);
  fs::resize_file(damaged, fs::file_size(damaged) / 2);
  Database database = made(), whole = made("whole.db");
  RecordedEvents recorded;
  const ExtractReport report = extract_folder(context, images, database, {}, recorded.events());
  EXPECT_EQ(report.images, 4);
  EXPECT_EQ(report.extracted, 3);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(recorded.totals, std::vector<int>{4});
  EXPECT_EQ(recorded.advanced, 4);
  ASSERT_EQ(recorded.sentences.size(), 1u);
  EXPECT_TRUE(recorded.sentences[0].starts_with(damaged.string() + ": ")) << recorded.sentences[0];
  // It leaves nothing behind and is tried again.
  EXPECT_EQ(extract_folder(context, images, database).failed, 1);
  fs::remove(damaged);
  extract_folder(context, images, whole);
  EXPECT_TRUE(dump(database) == dump(whole));
}

TEST_P(Folder, ADamagedRowOfPointsLeavesOneImageOut) {
  Database database = made();
  extract_folder(context, images, database);
  change_file(database.file(), "UPDATE keypoints SET data = x'00' WHERE image_id = 1");
  const MatchAllReport report = match_all(context, database);
  EXPECT_EQ(report.bad_images, 1);
  EXPECT_EQ(report.matched, 1);
}

TEST_P(Folder, RedoCountsOnlyWhatIsMadeAgain) {
  Database database = made();
  run_all(context, database);
  // A pair of an image that is not there keeps its geometry, because it cannot be made again.
  const std::string pair = text(pair_id({1, 9}));
  change_file(database.file(), "INSERT INTO matches(pair_id, rows, cols, data) VALUES (" + pair +
                                   ", 1, 2, x'0000000000000000')");
  change_file(database.file(),
              "INSERT INTO two_view_geometries(pair_id, rows, cols, data, config) "
              "VALUES (" +
                  pair + ", 1, 2, x'0000000000000000', 3)");
  RecordedEvents recorded;
  const VerifyReport report = verify_all(context, database, {.redo = true}, recorded.events());
  EXPECT_EQ(report.redone, 3);
  EXPECT_EQ(report.skipped, 1);
  EXPECT_EQ(recorded.totals, std::vector<int>{3});
  EXPECT_EQ(recorded.advanced, 3);
}

TEST_P(Folder, ChangedOptionsStopUnlessAsked) {
  Database database = made();
  run_all(context, database);
  VerifyOptions other;
  other.two_view.fundamental.threshold = 2;
  EXPECT_THROW(verify_all(context, database, other), Error);
  other.changed = Changed::keep;
  EXPECT_EQ(verify_all(context, database, other).skipped, 3);
  other.changed = Changed::redo;
  EXPECT_EQ(verify_all(context, database, other).redone, 3);
  RecordedEvents recorded;
  ExtractOptions options;
  options.sift.contrast = 0.03;
  FolderEvents events = recorded.events();
  std::vector<std::string> notes;
  events.note = [&](const std::string& sentence) { notes.push_back(sentence); };
  EXPECT_THROW(extract_folder(context, images, database, options, events), Error);
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_NE(notes[0].find("contrast 0.02 then and 0.03 now"), std::string::npos) << notes[0];
  EXPECT_TRUE(recorded.totals.empty());
}

TEST_P(Folder, AffineShapeAndPoolingAreOptionsOfADatabase) {
  Database database = made();
  ExtractOptions options;
  extract_folder(context, images, database, options);
  RecordedEvents recorded;
  FolderEvents events = recorded.events();
  std::vector<std::string> notes;
  events.note = [&](const std::string& sentence) { notes.push_back(sentence); };
  options.sift.affine_shape = options.sift.domain_size_pooling = true;
  EXPECT_THROW(extract_folder(context, images, database, options, events), Error);
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_NE(notes[0].find("affine_shape no then and yes now"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("domain_size_pooling no then and yes now"), std::string::npos);
  options.changed = Changed::redo;
  EXPECT_EQ(extract_folder(context, images, database, options).redone, 3);
  options.changed = Changed::stop;
  EXPECT_EQ(extract_folder(context, images, database, options).skipped, 3);
  Sift sift(context, options.sift);
  const colmap::ImageRow row = database.images()[0];
  std::vector<std::uint8_t> descriptors;
  database.read_descriptors(row.id, descriptors);
  EXPECT_EQ(descriptors, sift.detect(read_gray(images / row.name).view()).descriptors);
}

TEST_P(Folder, RedoForSomePairsIsRefusedWhereOthersHaveOtherOptions) {
  Database database = made();
  run_all(context, database);
  MatchAllOptions some;
  some.sequential = 1;
  some.match.ratio = 0.7f;
  some.changed = Changed::redo;
  EXPECT_THROW(match_all(context, database, some), Error);
  EXPECT_EQ(database.count("matches"), 3);
  EXPECT_EQ(database.count("two_view_geometries"), 3);
}

TEST_P(Folder, StoppingBeforeARedoLosesNothing) {
  Database database = made();
  run_all(context, database);
  const Tables before = dump(database);
  FolderEvents events;
  events.stop = [] { return true; };
  MatchAllOptions matching;
  matching.redo = true;
  EXPECT_TRUE(match_all(context, database, matching, events).stopped);
  VerifyOptions verifying;
  verifying.redo = true;
  EXPECT_TRUE(verify_all(context, database, verifying, events).stopped);
  EXPECT_TRUE(dump(database) == before);
}

}  // namespace
}  // namespace cornea
