// SPDX-License-Identifier: Apache-2.0
// Tests of extracting, matching and verifying a folder through the library, on views with known
// geometry.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cornea/pipeline/folder/folder_testing.h"
#include "cornea/scene/render.h"

namespace cornea {
namespace {

using namespace testing;

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
      // Within the rounding of adding and subtracting COLMAP's half pixel.
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
  FundamentalEstimator estimator(context, VerifyOptions().two_view.fundamental);
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
    std::vector<Correspondence> points;
    for (const auto& [i, j] : expected) points.push_back({p[i].x, p[i].y, q[j].x, q[j].y});
    const double threshold = estimator.estimate(points, std::uint64_t(pair)).threshold;
    std::erase_if(expected, [&](const colmap::IndexPair& e) {
      const auto &a = p[e.first], &b = q[e.second];
      return epipolar_distance(row.F.value(), {a.x, a.y, b.x, b.y}) >= threshold;
    });
    EXPECT_EQ(row.inliers, expected);
    inliers += row.inliers.size();
  }
  EXPECT_EQ(reports.match.matches, matches);
  EXPECT_EQ(reports.verify.inliers, inliers);
  EXPECT_GT(copies, 0u);  // of points with several orientations
}

TEST_P(Folder, VerifyCountsAndWritesAPositionOnce) {
  // Another program's database, in which every match occurs five times.
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
    // The estimated F, tested on points of the first view and their true positions in the second.
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
    // The F of the cameras, tested on the inliers that were found.
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

TEST_P(Folder, ReportsHowMuchThereIsToDo) {
  Database database = made();
  auto expect_steps = [&](int steps_of_extract, int steps_of_pairs) {
    RecordedEvents extract, match, verify;
    extract_folder(context, images, database, {}, extract.events());
    match_all(context, database, {}, match.events());
    verify_all(context, database, {}, verify.events());
    EXPECT_EQ(extract.totals, std::vector<int>{steps_of_extract});
    EXPECT_EQ(extract.advanced, steps_of_extract);
    for (const RecordedEvents& recorded : {match, verify}) {
      EXPECT_EQ(recorded.totals, std::vector<int>{steps_of_pairs});
      EXPECT_EQ(recorded.advanced, steps_of_pairs);
    }
    EXPECT_TRUE(extract.sentences.empty() && match.sentences.empty() && verify.sentences.empty());
  };
  expect_steps(3, 3);
  expect_steps(0, 0);
  write_image(images / "another.png", views()[0].image);  // three new pairs
  expect_steps(1, 3);
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
  // The same pair twice, and one with an image that does not exist.
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
  // It makes no difference whether the remaining pairs are matched later or at once.
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

TEST_P(Folder, ASixteenBitMaskHidesOnlyBlackPixels) {
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

}  // namespace
}  // namespace cornea
