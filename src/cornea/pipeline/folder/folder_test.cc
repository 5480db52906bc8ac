// A folder extracted, matched and verified by calls of the library, on views with known geometry.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "cornea/core/testing.h"
#include "cornea/io/image_file.h"
#include "cornea/pipeline/folder/extract.h"
#include "cornea/pipeline/folder/match_all.h"
#include "cornea/pipeline/folder/verify.h"
#include "cornea/scene/render.h"
#include "cornea/scene/scene.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;
using colmap::Database;
using colmap::Id;
using colmap::pair_id;

// Far enough apart for parallax that no plane explains, even within verify's wide threshold.
const SceneOptions kScene{
    .views = 3, .width = 320, .height = 240, .step_degrees = 12, .samples = 2};
const std::vector<Id> kAllPairs = {pair_id({1, 2}), pair_id({1, 3}), pair_id({2, 3})};

// Made once; the ray caster takes longer than most tests.
const std::vector<View>& views() {
  static const std::vector<View> made = make_views(Context::cpu(), kScene);
  return made;
}

// Every row of the six tables, past our own code.
using Tables = std::map<std::string, std::vector<std::string>>;
Tables dump(const Database& database) {
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(database.file().c_str(), &handle), SQLITE_OK);
  Tables tables;
  for (const std::string table :
       {"cameras", "images", "keypoints", "descriptors", "matches", "two_view_geometries"}) {
    sqlite3_stmt* row = nullptr;
    const std::string sql = "SELECT * FROM " + table + " ORDER BY 1";
    EXPECT_EQ(sqlite3_prepare_v2(handle, sql.c_str(), -1, &row, nullptr), SQLITE_OK) << sql;
    while (sqlite3_step(row) == SQLITE_ROW) {
      std::string& line = tables[table].emplace_back();
      for (int i = 0; i < sqlite3_column_count(row); ++i) {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, i));
        line += text("|", sqlite3_column_type(row, i), ":", sqlite3_column_bytes(row, i), ":");
        if (bytes) line.append(bytes, std::size_t(sqlite3_column_bytes(row, i)));
      }
    }
    sqlite3_finalize(row);
  }
  sqlite3_close(handle);
  return tables;
}

struct Reports {
  ExtractReport extract;
  MatchAllReport match;
  VerifyReport verify;
};

// What FolderEvents were told.
struct Told {
  std::vector<int> totals;
  int advanced = 0;
  std::vector<std::string> sentences;

  FolderEvents events() {
    return {[this](int total) { totals.push_back(total); },
            [this](int count) { advanced += count; },
            [this](const std::string& sentence) { sentences.push_back(sentence); }};
  }
};

class Folder : public testing::OnEveryDevice {
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

  const testing::TemporaryFolder folder;
  const fs::path images = folder / "images";
};
INSTANTIATE_TEST_SUITE_P(, Folder, testing::every_device(), testing::device_name);

TEST_P(Folder, StoresTheFeaturesOfSift) {
  Database database = made();
  const ExtractReport report = extract_folder(context, images, database);
  EXPECT_EQ(report.images, 3);
  EXPECT_EQ(report.extracted, 3);
  EXPECT_EQ(report.skipped + report.failed + report.masked, 0);
  ASSERT_EQ(database.images().size(), 3u);
  ASSERT_EQ(database.cameras().size(), 3u);
  Sift sift(context, folder_sift_options());
  std::uint64_t features = 0;
  for (int i = 0; i < 3; ++i) {
    const colmap::ImageRow row = database.images()[i];
    EXPECT_EQ(row.id, i + 1);
    EXPECT_EQ(row.name, views()[i].name + ".png");
    EXPECT_EQ(row.camera, database.cameras()[i].id);
    EXPECT_EQ(database.cameras()[i].width, 320);
    const Features expected = sift.detect(read_gray(images / row.name).view());
    const std::vector<colmap::Point> points = database.points(row.id);
    EXPECT_GT(points.size(), 300u);
    ASSERT_EQ(points.size(), expected.size());
    for (std::size_t k = 0; k < points.size(); ++k) {
      // COLMAP's half pixel, added and taken away.
      EXPECT_NEAR(points[k].x, expected.keypoints[k].x, 3e-5);
      EXPECT_NEAR(points[k].y, expected.keypoints[k].y, 3e-5);
    }
    std::vector<std::uint8_t> descriptors;
    database.read_descriptors(row.id, descriptors);
    EXPECT_EQ(descriptors, expected.descriptors);
    features += points.size();
  }
  EXPECT_EQ(report.features, features);
}

TEST_P(Folder, StoresMatchesOfAllPairsAndTheirInliers) {
  Database database = made();
  const Reports reports = run_all(context, database);
  EXPECT_EQ(reports.match.pairs, 3);
  EXPECT_EQ(reports.match.matched, 3);
  EXPECT_EQ(reports.verify.general(), 3);
  EXPECT_EQ(database.matched_pairs(0, INT64_MAX), kAllPairs);
  Matcher matcher(context);
  std::uint64_t matches = 0, inliers = 0, copies = 0;
  for (const Id pair : kAllPairs) {
    std::vector<std::uint8_t> bytes[2];
    const auto [first, second] = colmap::pair_of(pair);
    const int n = database.read_descriptors(first, bytes[0]);
    const int m = database.read_descriptors(second, bytes[1]);
    const auto p = database.points(first), q = database.points(second);
    auto keypoints = [](const std::vector<colmap::Point>& points) {
      std::vector<Keypoint> all;
      for (const colmap::Point& point : points) all.push_back({.x = point.x, .y = point.y});
      return all;
    };
    const auto found = matcher.match({bytes[0].data(), n}, {bytes[1].data(), m});
    const auto kept = one_per_place(found, keypoints(p), keypoints(q));
    copies += found.size() - kept.size();
    std::vector<colmap::IndexPair> expected;
    for (const Match& match : kept) {
      expected.push_back({std::uint32_t(match.a), std::uint32_t(match.b)});
    }
    EXPECT_GT(expected.size(), 60u);
    EXPECT_EQ(database.matches(pair), expected);
    matches += expected.size();
    const colmap::TwoViewRow row = database.two_view(pair).value();
    EXPECT_GT(row.inliers.size(), expected.size() / 2);
    std::erase_if(expected, [&](const colmap::IndexPair& e) {
      const auto &a = p[e.first], &b = q[e.second];
      return epipolar_distance(row.F.value(), {a.x, a.y, b.x, b.y}) >=
             VerifyOptions().two_view.fundamental.threshold;
    });
    EXPECT_EQ(row.inliers, expected);
    inliers += row.inliers.size();
  }
  EXPECT_EQ(reports.match.matches, matches);
  EXPECT_EQ(reports.verify.inliers, inliers);
  EXPECT_GT(copies, 0u);  // of points with several orientations
}

TEST_P(Folder, VerifyCountsAndWritesAPlaceOnce) {
  // Another program's database, in which every match is there five times.
  Database once = made(), often = made("often.db");
  run_all(context, once);
  extract_folder(context, images, often);
  match_all(context, often);
  for (const Id pair : kAllPairs) {
    std::vector<colmap::IndexPair> copies;
    for (const colmap::IndexPair& match : once.matches(pair)) copies.insert(copies.end(), 5, match);
    often.write_matches(colmap::pair_of(pair), copies);
  }
  const VerifyReport report = verify_all(context, often);
  EXPECT_EQ(report.general(), 3);
  for (const Id pair : kAllPairs) {
    EXPECT_EQ(often.two_view(pair).value().inliers, once.two_view(pair).value().inliers);
    EXPECT_EQ(often.two_view(pair).value().F, once.two_view(pair).value().F);
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 1e9 : values[values.size() / 2];
}

TEST_P(Folder, FindsTheGeometryOfTheScene) {
  Database database = made();
  run_all(context, database);
  for (const Id pair : kAllPairs) {
    const colmap::TwoViewRow row = database.two_view(pair).value();
    ASSERT_TRUE(row.F && !row.H);
    EXPECT_EQ(row.configuration, colmap::Configuration::uncalibrated);
    const auto [first, second] = colmap::pair_of(pair);
    const Camera &a = views()[first - 1].camera, &b = views()[second - 1].camera;
    // The F that was found, at what pixels of the first view show and where the second shows it.
    const Image<float> depths = scene::depth(Context::cpu(), scene::street_world(kScene.seed), a);
    std::vector<double> distances;
    for (int y = 4; y < 240; y += 8) {
      for (int x = 4; x < 320; x += 8) {
        const Eigen::Vector3d place = a.centre() + double(depths(x, y)) * a.ray(x, y);
        if (!place.allFinite() || b.depth(place) <= 0) continue;
        const Eigen::Vector2f seen = b.project(place).cast<float>();
        if (seen.minCoeff() < 0 || seen.x() > 319 || seen.y() > 239) continue;
        distances.push_back(epipolar_distance(*row.F, {float(x), float(y), seen.x(), seen.y()}));
      }
    }
    EXPECT_GT(distances.size(), 500u);
    EXPECT_LT(median(distances), 1);
    // The F of the cameras, at the inliers that were found.
    const Eigen::Matrix<double, 3, 3, Eigen::RowMajor> exact = fundamental(a, b);
    std::array<double, 9> F;
    std::copy_n(exact.data(), 9, F.begin());
    std::vector<double> errors;
    const auto p = database.points(first), q = database.points(second);
    for (const auto [i, j] : row.inliers) {
      errors.push_back(epipolar_distance(F, {p[i].x, p[i].y, q[j].x, q[j].y}));
    }
    EXPECT_LT(median(errors), 0.5);
  }
}

TEST_P(Folder, ASecondCallSkipsEverythingAndChangesNothing) {
  Database database = made();
  run_all(context, database);
  const Tables before = dump(database);
  for (const char* table : {"images", "keypoints", "descriptors", "matches"}) {
    EXPECT_EQ(before.at(table).size(), 3u) << table;
  }
  const Reports again = run_all(context, database);
  EXPECT_EQ(again.extract.skipped, 3);
  EXPECT_EQ(again.extract.extracted + again.extract.failed, 0);
  EXPECT_EQ(again.match.skipped, 3);
  EXPECT_EQ(again.match.matched, 0);
  EXPECT_EQ(again.verify.skipped, 3);
  EXPECT_EQ(
      again.verify.general() + again.verify.planar() + again.verify.of(Configuration::degenerate),
      0);
  EXPECT_EQ(again.extract.features + again.match.matches + again.verify.inliers, 0u);
  EXPECT_TRUE(dump(database) == before);
}

TEST_P(Folder, TellsHowMuchThereIsToDo) {
  Database database = made();
  auto expect_steps = [&](int steps_of_extract, int steps_of_pairs) {
    Told extract, match, verify;
    extract_folder(context, images, database, {}, extract.events());
    match_all(context, database, {}, match.events());
    verify_all(context, database, {}, verify.events());
    EXPECT_EQ(extract.totals, std::vector<int>{steps_of_extract});
    EXPECT_EQ(extract.advanced, steps_of_extract);
    for (const Told& told : {match, verify}) {
      EXPECT_EQ(told.totals, std::vector<int>{steps_of_pairs});
      EXPECT_EQ(told.advanced, steps_of_pairs);
    }
    EXPECT_TRUE(extract.sentences.empty() && match.sentences.empty() && verify.sentences.empty());
  };
  expect_steps(3, 3);
  expect_steps(0, 0);
  write_image(images / "another.png", views()[0].image);  // three new pairs
  expect_steps(1, 3);
}

TEST_P(Folder, ADamagedImageIsReportedAndTheRestIsDone) {
  const fs::path damaged = images / "view_001b.png";
  fs::copy_file(images / "view_001.png", damaged);
  fs::resize_file(damaged, fs::file_size(damaged) / 2);
  Database database = made(), whole = made("whole.db");
  Told told;
  const ExtractReport report = extract_folder(context, images, database, {}, told.events());
  EXPECT_EQ(report.images, 4);
  EXPECT_EQ(report.extracted, 3);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(told.totals, std::vector<int>{4});
  EXPECT_EQ(told.advanced, 4);
  ASSERT_EQ(told.sentences.size(), 1u);
  EXPECT_TRUE(told.sentences[0].starts_with(damaged.string() + ": ")) << told.sentences[0];
  // It leaves nothing behind, and is tried again.
  EXPECT_EQ(extract_folder(context, images, database).failed, 1);
  fs::remove(damaged);
  extract_folder(context, images, whole);
  EXPECT_TRUE(dump(database) == dump(whole));
}

TEST_P(Folder, NoFeatureLiesUnderAMask) {
  Image<std::uint8_t> mask(320, 240);
  for (int i = 0; i < 320 * 240; ++i) mask(i % 320, i / 320) = i % 320 < 160 ? 0 : 255;
  fs::create_directories(folder / "masks");
  write_image(mask_of(folder / "masks", "view_001.png"), mask);
  Database database = made(), whole = made("whole.db");
  ExtractOptions options;
  options.masks = folder / "masks";
  const ExtractReport report = extract_folder(context, images, database, options);
  EXPECT_EQ(report.extracted, 3);
  EXPECT_EQ(report.masked, 1);
  extract_folder(context, images, whole);
  const auto points = database.points(2), all = whole.points(2);
  for (const colmap::Point& p : points) EXPECT_GE(p.x, 159.5f);
  EXPECT_EQ(std::int64_t(points.size()),
            std::count_if(all.begin(), all.end(), [](const auto& p) { return p.x >= 159.5f; }));
  EXPECT_GT(points.size(), 100u);
  EXPECT_LT(points.size(), all.size());
  const Tables some = dump(database), every = dump(whole);
  for (int i : {0, 2}) EXPECT_TRUE(some.at("keypoints")[i] == every.at("keypoints")[i]);
}

TEST_P(Folder, MatchesThePairsThatWereAskedFor) {
  Database all = made("all.db"), listed = made("listed.db"), sequence = made("sequence.db");
  for (Database* database : {&all, &listed, &sequence}) extract_folder(context, images, *database);
  match_all(context, all);
  MatchAllOptions options;
  options.listed = true;
  EXPECT_EQ(match_all(context, listed, options).pairs, 0);
  // Twice the same pair, and one with an image that is not there.
  options.pairs = {{3, 1}, {1, 3}, {2, 99}};
  MatchAllReport report = match_all(context, listed, options);
  EXPECT_EQ(report.pairs, 1);
  EXPECT_EQ(report.matched, 1);
  EXPECT_EQ(report.missing, 1);
  EXPECT_EQ(listed.matched_pairs(0, INT64_MAX), std::vector<Id>{pair_id({1, 3})});
  EXPECT_EQ(listed.matches(pair_id({1, 3})), all.matches(pair_id({1, 3})));
  EXPECT_EQ(verify_all(context, listed).pairs, 1);
  MatchAllOptions in_sequence;
  in_sequence.sequential = 1;
  report = match_all(context, sequence, in_sequence);
  EXPECT_EQ(report.pairs, 2);
  EXPECT_EQ(sequence.matched_pairs(0, INT64_MAX),
            (std::vector<Id>{pair_id({1, 2}), pair_id({2, 3})}));
  // Whether the rest comes later or at once is all one.
  report = match_all(context, sequence);
  EXPECT_EQ(report.skipped, 2);
  EXPECT_EQ(report.matched, 1);
  EXPECT_TRUE(dump(sequence) == dump(all));
}

TEST_P(Folder, TooFewInliersAreDegenerate) {
  Database database = made();
  extract_folder(context, images, database);
  match_all(context, database);
  EXPECT_EQ(verify_all(context, database, {.min_inliers = 100000}).of(Configuration::degenerate),
            3);
  for (const Id pair : kAllPairs) {
    const colmap::TwoViewRow row = database.two_view(pair).value();
    EXPECT_EQ(row.configuration, colmap::Configuration::degenerate);
    EXPECT_TRUE(row.inliers.empty() && !row.F && !row.H);
  }
}

TEST_P(Folder, ThreadsChangeNothing) {
  Database one = made("one.db"), three = made("three.db");
  ExtractOptions options;
  options.decoders = 1;
  run_all(Context::from_name(GetParam(), 1), one, options);
  options.decoders = 3;
  run_all(Context::from_name(GetParam(), 3), three, options);
  const Tables expected = dump(one), found = dump(three);
  EXPECT_EQ(expected.at("two_view_geometries").size(), 3u);
  for (const auto& [table, rows] : expected) EXPECT_TRUE(found.at(table) == rows) << table;
}

TEST_P(Folder, StopsBetweenTwoStepsAndGoesOn) {
  Database whole = made("whole.db"), stopped = made();
  run_all(context, whole);
  int asked = 0;
  FolderEvents events;
  // The first question comes after the comparison with the records, then one before each image.
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

// What another process does while a run has read and not yet written.
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

TEST_P(Folder, MatchesReplacedMeanwhileAreNotVerified) {
  Database database = made();
  extract_folder(context, images, database);
  match_all(context, database);
  VerifyReport report;
  FolderEvents events;
  int asked = 0;
  // Before the third pair: the others have been read and are not yet written.
  events.stop = [&] {
    if (++asked == 3) {
      Database other(database.file());
      Database::Transaction transaction(other);
      other.write_matches({1, 2}, {});
      transaction.commit();
    }
    return false;
  };
  report = verify_all(context, database, {}, events);
  EXPECT_FALSE(database.two_view(pair_id({1, 2})).has_value());
  EXPECT_TRUE(database.two_view(pair_id({2, 3})).has_value());
}

TEST_P(Folder, ADamagedRowOfPointsLeavesOneImageOut) {
  Database database = made();
  extract_folder(context, images, database);
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(database.file().c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, "UPDATE keypoints SET data = x'00' WHERE image_id = 1", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(handle);
  const MatchAllReport report = match_all(context, database);
  EXPECT_EQ(report.bad_images, 1);
  EXPECT_EQ(report.matched, 1);
}

TEST_P(Folder, AMaskOfSixteenBitsHidesOnlyWhatIsBlack) {
  const fs::path masks = folder / "masks";
  fs::create_directories(masks);
  Image<std::uint16_t> mask(kScene.width, kScene.height);
  for (int y = 0; y < kScene.height; ++y) std::fill_n(&mask(0, y), kScene.width, std::uint16_t(1));
  for (const View& view : views()) write_image(masks / (view.name + ".png.png"), mask);
  Database masked = made(), plain = made("plain.db");
  ExtractOptions options;
  options.masks = masks;
  EXPECT_EQ(extract_folder(context, images, masked, options).masked, 3);
  extract_folder(context, images, plain);
  EXPECT_TRUE(dump(masked).at("keypoints") == dump(plain).at("keypoints"));
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

TEST_P(Folder, WhoeverStopsBeforeARedoLosesNothing) {
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
  Told told;
  ExtractOptions options;
  options.sift.contrast = 0.03;
  FolderEvents events = told.events();
  std::vector<std::string> notes;
  events.note = [&](const std::string& sentence) { notes.push_back(sentence); };
  EXPECT_THROW(extract_folder(context, images, database, options, events), Error);
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_NE(notes[0].find("contrast 0.02 then and 0.03 now"), std::string::npos) << notes[0];
  EXPECT_TRUE(told.totals.empty());
}

}  // namespace
}  // namespace cornea
