// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/degeneracy/line.h"

#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/random.h"
#include "cornea/geometry/ransac/host_team.h"

namespace cornea::geometry {
namespace {

// Whether points of one image are on a line of this width, in whichever image they are; in the
// other one there is none.
bool is_line_in(int image, std::vector<Correspondence> matches, double width) {
  core::Random random(6);
  for (Correspondence& m : matches) {
    const float x = float(random.uniform(0, 300)), y = float(random.uniform(0, 300));
    if (image == 0) m.x2 = x, m.y2 = y;
    if (image == 1) m.x1 = x, m.y1 = y;
  }
  HostPoints team;
  team.set(matches);
  const Normalisation normalisation = normalise(team);
  team.apply(normalisation, 1);
  return on_a_line(team, normalisation.scales, width, [](const PointPair&) { return true; });
}
bool is_line(const std::vector<Correspondence>& matches, double width) {
  const bool first = is_line_in(0, matches, width);
  EXPECT_EQ(is_line_in(1, matches, width), first);
  return first;
}

struct Drawn {
  core::Random random{5};
  std::vector<Correspondence> matches;
  void add(double x, double y) { matches.push_back({float(x), float(y), float(x), float(y)}); }
  void add_line(int points, double length, double noise) {
    for (int i = 0; i < points; ++i) {
      const double along = length * random.uniform(-0.5, 0.5);
      add(600 + 0.8 * along + noise * random.normal(), 480 + 0.6 * along);
    }
  }
  void add_anywhere(int points) {
    for (int i = 0; i < points; ++i) add(random.uniform(0, 1280), random.uniform(0, 960));
  }
};

TEST(Line, FewPointsOffItMayBeAnywhere) {
  for (const double length : {80.0, 500.0, 1500.0}) {
    for (const int off : {0, 1, 2, 7}) {
      SCOPED_TRACE(off);
      Drawn drawn;
      drawn.add_anywhere(off);
      drawn.add_line(60, length, 0.3);
      EXPECT_TRUE(is_line(drawn.matches, 1.5)) << length;
    }
  }
  Drawn beside;
  beside.add(600, 1e5);
  beside.add_line(60, 80, 0.3);
  EXPECT_TRUE(is_line(beside.matches, 1.5));
}

TEST(Line, EnoughPointsOffItDetermineAModel) {
  for (const int on : {10, 60, 1000}) {
    Drawn drawn;
    drawn.add_line(on, 500, 0.3);
    drawn.add_anywhere(12);
    EXPECT_FALSE(is_line(drawn.matches, 1.5)) << on;
  }
  // Twenty points 10 pixels beside it hardly change the standard deviation of a thousand.
  Drawn parallel;
  parallel.add_line(1000, 500, 0.3);
  for (int i = 0; i < 20; ++i) parallel.add(600 + 8 * i - 6, 480 + 6 * i + 8);
  EXPECT_FALSE(is_line(parallel.matches, 1.5));
  // A few points, half of them in a row by chance.
  Drawn few;
  few.add_line(8, 500, 0.3);
  few.add_anywhere(7);
  EXPECT_FALSE(is_line(few.matches, 1.5));
}

TEST(Line, ABandIsNoLineUnlessTheWidthIsThatOfTheNoise) {
  Drawn drawn;
  drawn.add_line(200, 1000, 10);
  EXPECT_FALSE(is_line(drawn.matches, 1.5));
  EXPECT_FALSE(is_line(drawn.matches, line_width(30)));
  EXPECT_TRUE(is_line(drawn.matches, 12));
}

TEST(Line, IsFoundWhateverTheOrderOfPoints) {
  // Two lists of the same points, one after the other, and two positions in turn.
  Drawn lists, turns;
  for (int list = 0; list < 2; ++list) {
    for (int i = 0; i < 30; ++i) lists.add(640 + 0.3 * list, 20 * i);
  }
  for (int i = 0; i < 40; ++i) turns.add(300 + 0.01 * i, i % 2 ? 100 : 400);
  EXPECT_TRUE(is_line(lists.matches, 1.5));
  EXPECT_TRUE(is_line(turns.matches, 1.5));
  for (int points = 8; points < 20; ++points) {
    Drawn few;
    few.add_line(points, 500, 0.3);
    EXPECT_TRUE(is_line(few.matches, 1.5)) << points;
  }
}

TEST(Line, NearlyEqualPointsAreOnOneAndTwoPointsOnNone) {
  Drawn drawn;
  for (int i = 0; i < 20; ++i) drawn.add(7 + 1e-3 * i, 8);
  EXPECT_TRUE(is_line(drawn.matches, 1.5));
  drawn.matches.resize(2);
  EXPECT_FALSE(is_line(drawn.matches, 1.5));
}

}  // namespace
}  // namespace cornea::geometry
