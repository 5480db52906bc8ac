// SPDX-License-Identifier: Apache-2.0
#include "cornea/retrieve/retrieve_math.h"

#include <cmath>

#include <gtest/gtest.h>

namespace cornea::retrieve {
namespace {

TEST(RetrieveMath, LogarithmsEqualStdLog2RoundedDown) {
  for (std::uint64_t x = 1; x < 70000; ++x) {
    ASSERT_EQ(log2_fixed(x),
              static_cast<std::int64_t>(std::floor(65536 * std::log2(static_cast<long double>(x)))))
        << x;
  }
  for (int bit = 0; bit < 64; ++bit) EXPECT_EQ(log2_fixed(std::uint64_t{1} << bit), bit * 65536);
}

TEST(RetrieveMath, AWordInAllImagesHasAPositiveWeight) {
  EXPECT_EQ(inverse_document_frequency(1, 1), 65536);  // log2(2 / 1)
  EXPECT_EQ(inverse_document_frequency(3, 1), 2 * 65536);
  EXPECT_GT(inverse_document_frequency(2000, 2000), 0);
}

TEST(RetrieveMath, WeightsArePowersOfTheSimilarity) {
  const Weights cubes = weights_of(3, 0);
  EXPECT_EQ(cubes[0], 65536);
  EXPECT_EQ(cubes[32], 65536 / 8);  // s = 1/2
  EXPECT_EQ(cubes[63], 0);          // (2/128)^3 is below 2^-16
  EXPECT_EQ(cubes[64], 0);
  EXPECT_EQ(cubes[128], 0);
  for (int power = 1; power <= 8; ++power) {
    const Weights weights = weights_of(power, 0);
    for (int h = 0; h <= 64; ++h) {
      ASSERT_EQ(weights[h],
                static_cast<int>(std::floor(65536 * std::pow((64.0L - h) / 64, power))));
    }
  }
}

TEST(RetrieveMath, OnlySimilaritiesAboveTheThresholdCount) {
  const Weights weights = weights_of(1, 64);  // s > 1/2
  EXPECT_GT(weights[31], 0);
  EXPECT_EQ(weights[32], 0);
}

TEST(RetrieveMath, RootsAreRoundedUp) {
  for (std::uint64_t x :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3},
        std::uint64_t{65536}, std::uint64_t{123456789}, (std::uint64_t{1} << 57) - 1}) {
    const Wide square = Wide{x} << 32;
    const std::uint64_t root = root_fixed(x);
    EXPECT_TRUE(Wide{root} * root >= square) << x;
    EXPECT_TRUE(root == 0 || Wide{root - 1} * (root - 1) < square) << x;
  }
  EXPECT_EQ(root_fixed(4), 2 * 65536u);
}

}  // namespace
}  // namespace cornea::retrieve
