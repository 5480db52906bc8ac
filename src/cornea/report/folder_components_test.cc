// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cornea/report/folder_page.h"

namespace cornea {
namespace {

FolderPage folder_of(int images, std::vector<FolderPagePair> pairs) {
  FolderPage page;
  for (int i = 0; i < images; ++i) {
    FolderPageImage image;
    image.name = std::string(1, char('a' + i)) + ".jpg";
    image.features = 5000;
    page.images.push_back(image);
  }
  page.pairs = std::move(pairs);
  return page;
}

FolderPagePair joined(int first, int second, int inliers = 100,
                      Configuration kind = Configuration::uncalibrated) {
  FolderPagePair pair;
  pair.first = first, pair.second = second;
  pair.matches = inliers + 20, pair.inliers = inliers;
  pair.kind = kind;
  return pair;
}

std::vector<int> components_of(const FolderPage& page) {
  std::vector<int> all;
  for (const FolderPageImage& image : page.images) all.push_back(image.component);
  return all;
}

std::vector<std::string> sentences_of(FolderPage page) {
  find_components(page);
  std::vector<std::string> all;
  for (const FolderPageWarning& w : folder_warnings(page)) all.push_back(w.sentence);
  return all;
}

TEST(FolderComponents, ListTheLargestFirst) {
  FolderPage page = folder_of(7, {joined(0, 2), joined(1, 4), joined(1, 5), joined(4, 6)});
  find_components(page);
  EXPECT_EQ(components_of(page), (std::vector<int>{1, 0, 1, 2, 0, 0, 0}));
  ASSERT_EQ(page.components.size(), 3u);
  EXPECT_EQ(page.components[0].images, 4);
  EXPECT_EQ(page.components[0].pairs, 3);
  EXPECT_EQ(page.components[1].images, 2);
  EXPECT_EQ(page.components[2].images, 1);
  EXPECT_EQ(page.components[2].pairs, 0);
}

TEST(FolderComponents, AreJoinedByGeometriesOnly) {
  FolderPage page = folder_of(
      5, {joined(0, 1, 0, Configuration::degenerate), joined(1, 2, 0, Configuration::undefined),
          joined(2, 3, 90, Configuration::watermark), joined(3, 4, 40, Configuration::planar)});
  find_components(page);
  EXPECT_EQ(components_of(page), (std::vector<int>{1, 2, 3, 0, 0}));
}

TEST(FolderWarnings, AreNoneIfAllImagesAreConnected) {
  EXPECT_EQ(sentences_of(folder_of(3, {joined(0, 1), joined(0, 2), joined(1, 2)})),
            std::vector<std::string>{});
}

TEST(FolderWarnings, NameImagesWithoutAConnection) {
  const std::vector<std::string> few =
      sentences_of(folder_of(6, {joined(0, 1), joined(0, 2), joined(1, 2)}));
  EXPECT_EQ(few, std::vector<std::string>{
                     "3 images share no geometry with the rest: d.jpg, e.jpg and f.jpg."});
  const std::vector<std::string> many =
      sentences_of(folder_of(9, {joined(0, 1), joined(0, 2), joined(1, 2)}));
  EXPECT_EQ(many[0], "6 images share no geometry with the rest: d.jpg, e.jpg, f.jpg and 3 more.");
  EXPECT_EQ(sentences_of(folder_of(4, {joined(0, 1), joined(0, 2), joined(1, 2)}))[0],
            "1 image shares no geometry with the rest: d.jpg.");
  EXPECT_EQ(sentences_of(folder_of(3, {})),
            std::vector<std::string>{"No two images share a geometry."});
  EXPECT_EQ(sentences_of(folder_of(0, {})), std::vector<std::string>{"There are no images."});
}

TEST(FolderWarnings, SayThatThereAreSeveralGroups) {
  const std::vector<std::string> all = sentences_of(folder_of(
      6, {joined(0, 1), joined(0, 2), joined(1, 2), joined(3, 4), joined(3, 5), joined(4, 5)}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0],
            "The images fall into 2 groups that share no geometry with one another; they have 3 "
            "and 3 images. "
            "Each group is reconstructed separately.");
}

TEST(FolderWarnings, NameTheLargestOfManyGroups) {
  std::vector<FolderPagePair> pairs = {joined(0, 1), joined(1, 2), joined(0, 2)};
  for (int first = 3; first < 13; first += 2) pairs.push_back(joined(first, first + 1));
  EXPECT_EQ(sentences_of(folder_of(13, pairs)).front(),
            "The images fall into 6 groups that share no geometry with one another; the largest "
            "have 3, 2, 2 and 2 images. Each group is reconstructed separately.");
}

TEST(FolderWarnings, NameImagesWithFewFeatures) {
  FolderPage page =
      folder_of(4, {joined(0, 1), joined(0, 2), joined(1, 2), joined(0, 3), joined(1, 3)});
  page.images[3].features = 30;
  EXPECT_EQ(sentences_of(page)[0],
            "1 image has few features, fewer than a tenth of the usual 5,000: d.jpg. It may be "
            "blurred, dark or nearly empty.");
  page.images[3].features = 0;
  EXPECT_EQ(sentences_of(page)[0], "1 image has no features: d.jpg.");
}

TEST(FolderWarnings, CountUnusualPairs) {
  FolderPage page = folder_of(
      4, {joined(0, 1, 50, Configuration::planar), joined(0, 2, 50, Configuration::panoramic),
          joined(1, 2, 60, Configuration::watermark), joined(2, 3)});
  page.pairs.push_back({});
  page.pairs.back().second = 3, page.pairs.back().matches = 40;
  const std::vector<std::string> all = sentences_of(page);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0], "1 pair has matches but no geometry yet; run verify.");
  EXPECT_EQ(all[1], "2 images are connected by a single pair only: b.jpg and d.jpg.");
  EXPECT_TRUE(all[2].starts_with("1 pair looks like a watermark or a time stamp:")) << all[2];
  EXPECT_TRUE(all[3].starts_with("2 of 3 pairs are explained by a homography:")) << all[3];
}

TEST(FolderWarnings, SayWhichPhotographsCannotBeShown) {
  FolderPage page = folder_of(3, {joined(0, 1), joined(0, 2), joined(1, 2)});
  page.images[1].problem = "is not in the folder";
  EXPECT_EQ(sentences_of(page),
            std::vector<std::string>{"1 photograph cannot be shown: b.jpg is not in the folder."});
}

}  // namespace
}  // namespace cornea
