// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/image_order.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace cornea::folder {
namespace {

using colmap::Id;
using colmap::ImagePair;

// Images along streets: each has pairs with the next few of its street. The ids are shuffled.
std::vector<ImagePair> streets(int count, int length, int reach, unsigned seed) {
  std::vector<Id> ids(std::size_t(count) * std::size_t(length));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = Id(i + 1);
  std::mt19937 random(seed);
  std::shuffle(ids.begin(), ids.end(), random);
  std::vector<ImagePair> pairs;
  for (int s = 0; s < count; ++s) {
    for (int i = 0; i < length; ++i) {
      for (int j = i + 1; j < std::min(length, i + reach + 1); ++j) {
        pairs.push_back({ids[std::size_t(s * length + i)], ids[std::size_t(s * length + j)]});
      }
    }
  }
  return pairs;
}

TEST(ImageOrder, EveryPairIsInOneBlockAndBlocksAreBounded) {
  const std::vector<ImagePair> pairs = streets(3, 400, 6, 1);
  const std::vector<Id> order = order_of(pairs, 50);
  EXPECT_EQ(order.size(), 1200u);
  EXPECT_EQ(std::set<Id>(order.begin(), order.end()).size(), 1200u);
  std::vector<Id> all;
  for (const std::vector<Id>& block : blocks_of(pairs, order, 100, 300)) {
    EXPECT_LE(images_of(block).size(), 100u);
    EXPECT_LE(block.size(), 300u);
    EXPECT_FALSE(block.empty());
    all.insert(all.end(), block.begin(), block.end());
  }
  EXPECT_EQ(all.size(), pairs.size());
  std::set<Id> expected;
  for (const ImagePair& pair : pairs) expected.insert(colmap::pair_id(pair));
  EXPECT_EQ(std::set<Id>(all.begin(), all.end()), expected);
}

// With the images in random order, a block of 100 images would be full after some 50 pairs.
TEST(ImageOrder, AnImageIsReadByFewBlocks) {
  const std::vector<ImagePair> pairs = streets(3, 400, 6, 2);
  const auto reads = [&](const std::vector<Id>& order) {
    std::size_t sum = 0;
    for (const auto& block : blocks_of(pairs, order, 100, 100000)) sum += images_of(block).size();
    return double(sum) / 1200;
  };
  std::vector<Id> by_id = order_of(pairs, 50);
  const double ours = reads(by_id);
  std::sort(by_id.begin(), by_id.end());
  EXPECT_LT(ours, 2.5);
  EXPECT_GT(reads(by_id), 4 * ours);
}

TEST(ImageOrder, DoesNotDependOnTheOrderOfPairs) {
  std::vector<ImagePair> pairs = streets(2, 60, 3, 3);
  const std::vector<Id> order = order_of(pairs, 10);
  const auto blocks = blocks_of(pairs, order, 20, 50);
  std::reverse(pairs.begin(), pairs.end());
  EXPECT_EQ(order_of(pairs, 10), order);
  EXPECT_EQ(blocks_of(pairs, order, 20, 50), blocks);
}

TEST(ImageOrder, NoPairsGiveNoBlocksAndTheSmallestBlockHasOnePair) {
  EXPECT_TRUE(order_of({}, 5).empty());
  EXPECT_TRUE(blocks_of({}, {}, 5, 5).empty());
  const std::vector<ImagePair> pairs = {{1, 2}, {2, 3}, {1, 3}};
  EXPECT_EQ(blocks_of(pairs, order_of(pairs, 1), 1, 1).size(), 3u);
  EXPECT_EQ(blocks_of(pairs, order_of(pairs, 1), 2, 100).size(), 3u);
  EXPECT_EQ(blocks_of(pairs, order_of(pairs, 1), 3, 100).size(), 1u);
}

}  // namespace
}  // namespace cornea::folder
