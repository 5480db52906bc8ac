// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/overview.h"

#include <cmath>

#include "cornea/export/colmap/camera.h"
#include "cornea/export/colmap/database_testing.h"
#include "cornea/io/image_file.h"
#include "cornea/pipeline/folder/folder_testing.h"

namespace cornea {
namespace {

using colmap::Configuration;
using colmap::TwoViewRow;
using testing::RecordedEvents;
namespace fs = std::filesystem;

// Points of a scene with depth, seen by two cameras; the second is translated to the side without a
// rotation: x2 = x1 + 40 / depth.
class FolderOverview : public colmap::ColmapDatabase {
 protected:
  void SetUp() override {
    fs::create_directories(photos);
    colmap::Database database = create();
    add_images(database, 5);
    colmap::Database::Transaction transaction(database);
    for (colmap::Id image = 1; image <= 4; ++image) {
      Features features;
      for (int i = 0; i < 40; ++i) {
        const float x = 100 + 9.0f * float(i), y = 60 + float(i * 37 % 300);
        features.keypoints.push_back(
            {x + (image == 2 ? 20.0f / float(1 + i % 4) : 0), y, 2, 0, 1, 0});
        features.descriptors.resize(features.keypoints.size() * 128);
      }
      database.write_features(image, features);
    }
    std::vector<colmap::IndexPair> matches;
    for (std::uint32_t i = 0; i < 40; ++i) matches.push_back({i, i});
    TwoViewRow row;
    row.configuration = Configuration::calibrated;
    row.inliers.assign(matches.begin(), matches.begin() + 30);
    row.E = row.F = {0, 0, 0, 0, 0, -1, 0, 1, 0};
    row.R = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    row.t = {1, 0, 0};
    database.write_matches({1, 2}, matches);
    database.write_two_view(colmap::pair_id({1, 2}), row);
    TwoViewRow rotated;
    rotated.configuration = Configuration::planar_or_panoramic;
    rotated.inliers = matches;
    rotated.H = {1, 0, 0, 0, 1, 3, 0, 0, 1};
    database.write_matches({1, 3}, matches);
    database.write_two_view(colmap::pair_id({1, 3}), rotated);
    TwoViewRow none;
    none.configuration = Configuration::degenerate;
    database.write_matches({1, 4}, {{matches[0]}});
    database.write_two_view(colmap::pair_id({1, 4}), none);
    database.write_matches({3, 4}, matches);
    transaction.commit();
    for (int i = 0; i < 3; ++i) {
      write_image(photos / text("image ", i, ".jpg"), Image<std::uint8_t>(640, 480));
    }
    write_image(photos / "image 3.jpg", Image<std::uint8_t>(320, 480));
  }
  FolderPage overview(const OverviewOptions& options = {}, const FolderEvents& events = {}) {
    const colmap::Database database(file);
    return folder_overview(Context::cpu(2), database, photos, options, events);
  }

  const fs::path photos = folder / "photos";
};

TEST_F(FolderOverview, ReadsImagesPairsAndComponents) {
  const FolderPage page = overview();
  EXPECT_EQ(page.title, "photos");
  {
    const colmap::Database database(file);
    const FolderPage here = folder_overview(Context::cpu(1), database, ".", {.thumbnails = false});
    EXPECT_EQ(here.title, fs::current_path().filename());
    const FolderPage above =
        folder_overview(Context::cpu(1), database, "..", {.thumbnails = false});
    EXPECT_EQ(above.title, fs::current_path().parent_path().filename());
  }
  ASSERT_EQ(page.images.size(), 5u);
  EXPECT_EQ(page.images[1].name, "image 1.jpg");
  EXPECT_EQ(page.images[1].width, 640);
  EXPECT_EQ(page.images[1].features, 40);
  EXPECT_EQ(page.images[4].features, 0);
  ASSERT_EQ(page.pairs.size(), 4u);
  EXPECT_EQ(page.pairs[0].matches, 40);
  EXPECT_EQ(page.pairs[0].inliers, 30);
  EXPECT_EQ(page.pairs[0].lines.size(), 30u);
  EXPECT_EQ(page.pairs[2].kind, Configuration::degenerate);
  EXPECT_EQ(page.pairs[3].kind, Configuration::undefined);
  EXPECT_EQ(page.pairs[3].first, 2);
  ASSERT_EQ(page.components.size(), 3u);
  EXPECT_EQ(page.components[0].images, 3);
  EXPECT_EQ(page.images[3].component, 1);
  EXPECT_EQ(page.warnings[0].sentence,
            "2 images share no geometry with the rest: image 3.jpg and image 4.jpg.");
}

TEST_F(FolderOverview, MeasuresDistancesAndAngles) {
  const FolderPage page = overview();
  EXPECT_NEAR(page.pairs[0].median_distance, 0, 1e-3);  // points move along their epipolar lines
  EXPECT_NEAR(page.pairs[1].median_distance, 6, 1e-3);  // 3 pixels in each image
  EXPECT_LT(page.pairs[1].angle_degrees, 0);
  EXPECT_LT(page.pairs[2].median_distance, 0);
  // The middle ray moves by 20 / 3 to 10 pixels at a focal length of 768.
  EXPECT_GT(page.pairs[0].angle_degrees, 0.4);
  EXPECT_LT(page.pairs[0].angle_degrees, 0.8);
  std::int64_t all = 0;
  for (const std::int64_t count : page.distances.counts) all += count;
  EXPECT_EQ(all, 70);
  EXPECT_EQ(page.distances.counts[0], 30);
  EXPECT_EQ(page.distances.counts[59] + page.distances.counts[60], 40);
}

TEST_F(FolderOverview, ShowsOnlyPhotographsThatFitTheDatabase) {
  OverviewOptions options;
  options.thumbnail_side = 64;
  const FolderPage page = overview(options);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(page.images[i].problem, "");
    const auto shown = decode_image<std::uint8_t>(page.images[i].thumbnail, "thumbnail");
    EXPECT_EQ(shown.width(), 64);
    EXPECT_EQ(shown.height(), 48);
  }
  EXPECT_TRUE(page.images[3].thumbnail.empty());
  EXPECT_EQ(page.images[3].problem,
            "has 320 x 480 pixels and had 640 x 480 when its points were found");
  EXPECT_EQ(page.images[4].problem, "is not in the folder");
}

TEST_F(FolderOverview, DoesNotLeaveTheFolder) {
  write_image(folder / "outside.jpg", Image<std::uint8_t>(640, 480));
  change("UPDATE images SET name = '../outside.jpg' WHERE image_id = 1");
  change("UPDATE images SET name = '" + (folder / "outside.jpg").string() + "' WHERE image_id = 2");
  const FolderPage page = overview();
  EXPECT_EQ(page.images[0].problem, "is not in the folder");
  EXPECT_EQ(page.images[1].problem, "is not in the folder");
}

TEST_F(FolderOverview, ListsThePairsWithMostInliersFirst) {
  OverviewOptions options;
  options.most_pairs = 2;
  const FolderPage page = overview(options);
  ASSERT_EQ(page.pairs.size(), 2u);
  EXPECT_EQ(page.pairs[0].second, 1);
  EXPECT_EQ(page.pairs[1].second, 2);
  EXPECT_EQ(page.further_pairs, 2);
  EXPECT_EQ(page.further_verified, 0);
}

TEST_F(FolderOverview, PairsThatAreNotListedStillConnectImages) {
  const FolderPage all = overview();
  OverviewOptions options;
  options.most_pairs = 1;
  const FolderPage page = overview(options);
  ASSERT_EQ(page.pairs.size(), 1u);
  EXPECT_EQ(page.pairs[0].second, 2);  // the one with the most inliers
  EXPECT_EQ(page.further_pairs, 3);
  EXPECT_EQ(page.further_verified, 1);
  ASSERT_EQ(page.components.size(), all.components.size());
  EXPECT_EQ(page.components[0].images, all.components[0].images);
  EXPECT_EQ(page.components[0].pairs, 2);
  ASSERT_EQ(page.warnings.size(), all.warnings.size());
  for (std::size_t i = 0; i < all.warnings.size(); ++i)
    EXPECT_EQ(page.warnings[i].sentence, all.warnings[i].sentence);
}

TEST_F(FolderOverview, NamesInvalidRows) {
  change("UPDATE two_view_geometries SET data = zeroblob(16) WHERE rows = 30");
  RecordedEvents recorded;
  const FolderPage page = overview({}, recorded.events());
  ASSERT_EQ(recorded.sentences.size(), 1u);
  EXPECT_TRUE(recorded.sentences[0].starts_with(
      "the pair image 0.jpg and image 1.jpg is shown without its inliers: "))
      << recorded.sentences[0];
  EXPECT_EQ(page.pairs[0].inliers, 30);
  EXPECT_TRUE(page.pairs[0].lines.empty());
  EXPECT_EQ(page.pairs[1].lines.size(), 40u);
}

TEST_F(FolderOverview, GivesTheSamePageForEveryNumberOfThreads) {
  const colmap::Database database(file);
  const auto bytes = [&](int threads) {
    return folder_page(folder_overview(Context::cpu(threads), database, photos))[0].bytes;
  };
  EXPECT_EQ(bytes(1), bytes(3));
}

TEST_F(FolderOverview, ReportsProgressAndStops) {
  RecordedEvents recorded;
  overview({}, recorded.events());
  EXPECT_EQ(recorded.totals, std::vector<int>{7});  // 5 images, 2 pairs with a geometry
  EXPECT_EQ(recorded.advanced, 7);
  FolderEvents events;
  events.stop = [] { return true; };
  const FolderPage page = overview({}, events);
  EXPECT_EQ(page.images[0].problem, "was not read");
}

TEST_F(FolderOverview, LeavesTheDatabaseAsItIs) {
  const colmap::Database database(file);
  const testing::Tables before = testing::dump(database);
  folder_overview(Context::cpu(1), database, photos);
  EXPECT_EQ(testing::dump(database), before);
}

}  // namespace
}  // namespace cornea
