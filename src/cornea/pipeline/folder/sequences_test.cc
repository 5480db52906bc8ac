// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/sequences.h"

#include <gtest/gtest.h>

namespace cornea::folder {
namespace {

using Pairs = std::vector<Neighbours>;

TEST(Sequences, NumbersInARowAreNeighbours) {
  EXPECT_EQ(neighbours_by_name({"a_1.jpg", "a_2.jpg", "a_3.jpg", "a_4.jpg"}, 2),
            (Pairs{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}}));
  // In the order of their numbers, not of their names: "10" sorts before "9".
  EXPECT_EQ(neighbours_by_name({"a10.jpg", "a11.jpg", "a8.jpg", "a9.JPG"}, 1),
            (Pairs{{0, 1}, {0, 3}, {2, 3}}));
}

TEST(Sequences, AFixedStepIsASequenceAndGapsSplitIt) {
  EXPECT_EQ(neighbours_by_name({"f0010.png", "f0020.png", "f0030.png", "f0900.png"}, 1),
            (Pairs{{0, 1}, {1, 2}}));
  // A deleted photograph does not split a sequence.
  EXPECT_EQ(neighbours_by_name({"p1.png", "p2.png", "p3.png", "p5.png", "p6.png"}, 2),
            (Pairs{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}}));
}

TEST(Sequences, OtherPrefixesFoldersAndEndingsAreOtherSequences) {
  EXPECT_TRUE(neighbours_by_name({"a1.jpg", "b2.jpg", "c3.jpg", "d4.jpg"}, 3).empty());
  EXPECT_TRUE(neighbours_by_name({"x/a1.jpg", "x/a2.jpg", "y/a3.jpg", "y/a4.jpg"}, 3).empty());
  EXPECT_TRUE(neighbours_by_name({"a1.jpg", "a2.png", "a3.tif"}, 3).empty());
}

TEST(Sequences, IrregularNumbersAreNoSequence) {
  EXPECT_TRUE(neighbours_by_name({"a3.jpg", "a7.jpg", "a90.jpg", "a112.jpg"}, 3).empty());
  EXPECT_TRUE(neighbours_by_name({"a1.jpg", "a2.jpg"}, 3).empty());  // two are no sequence
  EXPECT_TRUE(neighbours_by_name({"a.jpg", "b.jpg", "c.jpg"}, 3).empty());
  EXPECT_TRUE(neighbours_by_name({"a1.jpg", "a01.jpg", "a001.jpg"}, 3).empty());
  // Numbers that no integer type holds.
  EXPECT_TRUE(
      neighbours_by_name(
          {"99999999999999999998.jpg", "99999999999999999999.jpg", "99999999999999999997.jpg"}, 3)
          .empty());
}

TEST(Sequences, TimesAreOfOneCameraAndWithinAMinute) {
  constexpr std::int64_t kSecond = 1000000;
  EXPECT_EQ(neighbours_by_time({{"a", 100 * kSecond},
                                {"a", 0},
                                {"a", 50 * kSecond},
                                {"b", 10 * kSecond},
                                {"a", {}},
                                {"a", 161 * kSecond}},
                               2),
            (Pairs{{0, 1}, {0, 2}, {1, 2}}));
}

TEST(Sequences, ReadsTimes) {
  EXPECT_EQ(microseconds_of("1970-01-01 00:00:01"), 1000000);
  EXPECT_EQ(microseconds_of("1970-01-02 00:00:00.25"), 86400250000);
  EXPECT_EQ(
      *microseconds_of("2026-11-17 09:05:31.123456789") - *microseconds_of("2026-11-17 09:05:30"),
      1123456);
  EXPECT_FALSE(microseconds_of(""));
  EXPECT_FALSE(microseconds_of("2026-02-30 09:05:31"));
}

}  // namespace
}  // namespace cornea::folder
