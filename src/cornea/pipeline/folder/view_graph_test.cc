// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/view_graph.h"

#include <gtest/gtest.h>

#include "cornea/export/colmap/sqlite_testing.h"
#include "cornea/io/file_testing.h"

namespace cornea::folder {
namespace {

using colmap::Id;
using colmap::ImagePair;
using colmap::pair_id;
using Pairs = std::vector<ImagePair>;

TEST(ViewGraph, ComponentsAreTheLargestFirst) {
  const std::vector<std::vector<Id>> found =
      components_of({1, 2, 3, 4, 5, 6, 9}, {{{2, 9}, 20}, {{3, 5}, 20}, {{5, 6}, 20}});
  EXPECT_EQ(found, (std::vector<std::vector<Id>>{{3, 5, 6}, {2, 9}, {1}, {4}}));
  // An image that is not in the list joins nothing.
  EXPECT_EQ(components_of({1, 2}, {{{1, 7}, 20}, {{2, 7}, 20}}).size(), 2u);
}

TEST(ViewGraph, OnlyGeometriesOfTheSceneJoin) {
  using enum cornea::Configuration;
  for (const auto kind : {calibrated, uncalibrated, planar, panoramic, planar_or_panoramic}) {
    EXPECT_TRUE(joins(kind, 15));
    EXPECT_FALSE(joins(kind, 0));
  }
  for (const auto kind : {undefined, degenerate, watermark}) EXPECT_FALSE(joins(kind, 15));
}

TEST(ViewGraph, DamagedPairsAreNoEdges) {
  const cornea::testing::TemporaryFolder folder;
  colmap::Database database(folder / "a.db", colmap::Database::Open::create);
  const auto add = [&](Id pair) {
    cornea::testing::change_file(
        database.file(), text("INSERT INTO two_view_geometries (pair_id, rows, cols, config) "
                              "VALUES (",
                              pair, ", 20, 2, 3)"));
  };
  for (const Id pair : {pair_id({3, 5}), Id{-5}, 5 * colmap::kMostImages + 3}) add(pair);
  const std::vector<Edge> edges = edges_of(database);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].images, (ImagePair{3, 5}));
}

// The ids of chosen pairs; those with an edge are joined.
std::vector<Id> ids(const Pairs& pairs) {
  std::vector<Id> all;
  for (const ImagePair& pair : pairs) all.push_back(pair_id(pair));
  std::sort(all.begin(), all.end());
  return all;
}

TEST(ViewGraph, NeighboursOfNeighboursAreTriedOnce) {
  const std::vector<Edge> path = {{{1, 2}, 30}, {{2, 3}, 40}, {{3, 4}, 50}};
  const auto chosen = ids({{1, 2}, {2, 3}, {3, 4}});
  EXPECT_EQ(neighbours_of_neighbours(path, chosen, 5), (Pairs{{1, 3}, {2, 4}}));
  // Pairs that were chosen and have no geometry are not tried again.
  EXPECT_EQ(neighbours_of_neighbours(path, ids({{1, 2}, {1, 3}, {2, 3}, {3, 4}}), 5),
            (Pairs{{2, 4}}));
  EXPECT_TRUE(neighbours_of_neighbours(path, chosen, 0).empty());
}

TEST(ViewGraph, TheBestScoresPerImageAreKept) {
  // Images 1 and 5 share the neighbours 2 and 3; images 1 and 4 share only 2.
  const std::vector<Edge> edges = {
      {{1, 2}, 20}, {{1, 3}, 20}, {{2, 4}, 90}, {{2, 5}, 15}, {{3, 5}, 30}};
  std::vector<Id> chosen;
  for (const Edge& edge : edges) chosen.push_back(pair_id(edge.images));
  std::sort(chosen.begin(), chosen.end());
  // Scores: 1-5 15 + 20, 1-4 20, 2-3 20 + 15, 4-5 15. With one per image, 4 proposes 1 and 3
  // proposes 2.
  EXPECT_EQ(neighbours_of_neighbours(edges, chosen, 1), (Pairs{{1, 4}, {1, 5}, {2, 3}}));
  EXPECT_EQ(neighbours_of_neighbours(edges, chosen, 2), (Pairs{{1, 4}, {1, 5}, {2, 3}, {4, 5}}));
}

TEST(ViewGraph, AHubDoesNotJoinAllWithAll) {
  // One image with 200 neighbours: only the 50 with most inliers, 2 to 51 here, are tried with each
  // other.
  std::vector<Edge> star;
  std::vector<Id> chosen;
  for (Id i = 2; i <= 201; ++i) {
    star.push_back({{1, i}, 1000 - i});
    chosen.push_back(pair_id({1, i}));
  }
  const Pairs found = neighbours_of_neighbours(star, chosen, 1000);
  EXPECT_EQ(found.size(), 50u * 49 / 2);
  for (const ImagePair& pair : found) EXPECT_LE(pair.second, 51);
}

}  // namespace
}  // namespace cornea::folder
