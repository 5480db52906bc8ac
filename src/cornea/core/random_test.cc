// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/random.h"

#include <cmath>

#include <gtest/gtest.h>

namespace cornea {
namespace {

using namespace core;

// Known-answer test vectors of Random123's philox4x32-10 (kat_vectors).
TEST(Random, PhiloxGivesThePublishedNumbers) {
  const Philox4 zero = philox(0, 0, 0);
  EXPECT_EQ(zero.v[0], 0x6627e8d5u);
  EXPECT_EQ(zero.v[1], 0xe169c58du);
  EXPECT_EQ(zero.v[2], 0xbc57ac4cu);
  EXPECT_EQ(zero.v[3], 0x9b00dbd8u);
  const Philox4 ones = philox(~0ull, ~0ull, ~0ull);
  EXPECT_EQ(ones.v[0], 0x408f276du);
  EXPECT_EQ(ones.v[1], 0x41c83b0eu);
  EXPECT_EQ(ones.v[2], 0xa20bc7c6u);
  EXPECT_EQ(ones.v[3], 0x6d5451fdu);
}

TEST(Random, SameSeedGivesTheSameNumbersAnotherStreamOthers) {
  Random a(7), b(7), c(7, 1);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t x = a.bits();
    EXPECT_EQ(x, b.bits());
    differs |= x != c.bits();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, NormalHasMeanZeroAndDeviationOne) {
  Random random(3);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double v = random.normal();
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
}

TEST(Random, IntegersIncludeBothEnds) {
  Random random(5);
  int low = 0, high = 0;
  for (int i = 0; i < 1000; ++i) {
    const int v = random.integer(-2, 2);
    ASSERT_GE(v, -2);
    ASSERT_LE(v, 2);
    low += v == -2;
    high += v == 2;
  }
  EXPECT_GT(low, 100);
  EXPECT_GT(high, 100);
}

}  // namespace
}  // namespace cornea
