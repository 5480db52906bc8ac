// SPDX-License-Identifier: Apache-2.0
#include "cornea/match/places.h"

#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/random.h"

namespace cornea {
namespace {

using namespace core;
using namespace match;

TEST(Places, EqualThoseOfAnExhaustiveComparison) {
  Random random(3);
  PlaceFinder finder;
  for (const int count : {0, 1, 2, 9, 100, 3000}) {
    for (const int different : {1, 7, 1000000}) {
      std::vector<Correspondence> matches;
      for (int i = 0; i < count; ++i) {
        const auto v = [&] { return float(random.integer(0, different)) / 8; };
        matches.push_back({v(), v(), v(), 7});
      }
      std::map<std::tuple<float, float, float, float>, std::uint32_t> seen;
      const Places places = finder.places(matches);
      ASSERT_EQ(places.of.size(), matches.size());
      for (std::size_t i = 0; i < matches.size(); ++i) {
        const Correspondence& m = matches[i];
        const auto expected =
            seen.try_emplace({m.x1, m.y1, m.x2, m.y2}, std::uint32_t(seen.size())).first->second;
        ASSERT_EQ(places.of[i], expected) << i;
        ASSERT_EQ(places.distinct[expected], m);
      }
      EXPECT_EQ(places.distinct.size(), seen.size());
      EXPECT_EQ(finder.repeats(matches), seen.size() < matches.size());
    }
  }
}

TEST(Places, PositiveAndNegativeZeroAreEqual) {
  PlaceFinder finder;
  EXPECT_TRUE(finder.repeats(std::vector<Correspondence>{{0, 1, 2, 3}, {-0.0f, 1, 2, 3}}));
  EXPECT_FALSE(finder.repeats(std::vector<Correspondence>{{1, 2, 3, 4}, {2, 1, 3, 4}}));
}

TEST(OnePerPlace, KeepsTheNearestOfEachAndTheOrder) {
  // Points 0 and 1 of the first image have the same position, as have points 1 and 2 of the second.
  const std::vector<Keypoint> a = {{.x = 5, .y = 6}, {.x = 5, .y = 6, .angle = 2}, {.x = 1}};
  const std::vector<Keypoint> b = {{.x = 9}, {.x = 3, .y = 4}, {.x = 3, .y = 4, .angle = 1}};
  const std::vector<Match> matches = {
      {0, 1, 50, 0.5f}, {0, 0, 10, 0.1f}, {1, 2, 40, 0.7f}, {1, 1, 40, 0.2f}, {2, 2, 90, 0.3f}};
  EXPECT_EQ(one_per_place(matches, a, b),
            (std::vector<Match>{{0, 0, 10, 0.1f}, {1, 2, 40, 0.7f}, {2, 2, 90, 0.3f}}));
  EXPECT_TRUE(one_per_place({}, a, b).empty());
  EXPECT_THROW(one_per_place({{3, 0, 1, 1}}, a, b), Error);
}

}  // namespace
}  // namespace cornea
