// SPDX-License-Identifier: Apache-2.0
#include "cornea/linalg/svd/svd_math.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/random.h"

namespace cornea {
namespace {

using namespace core;
using namespace svd;

TEST(BrentLukOrder, MeetsEveryPairOnceAndReturns) {
  for (int n = 2; n <= 64; n += 2) {
    std::set<std::pair<int, int>> met;
    std::vector<int> slots(n);
    for (int i = 0; i < n; ++i) slots[i] = i;
    for (int step = 0; step < n - 1; ++step) {
      for (int slot = 0; slot < n; ++slot) {
        const svd::Meeting m = svd::meeting_of(slots[slot], step, n);
        EXPECT_EQ(m.pair, slot / 2);
        EXPECT_EQ(m.second, slot % 2 == 1);
        EXPECT_EQ(m.partner, slots[slot ^ 1]);
        if (!m.second) {
          EXPECT_TRUE(met.insert(std::minmax(slots[slot], m.partner)).second);
        }
      }
      std::vector<int> next(n);
      for (int slot = 0; slot < n; ++slot) next[svd::next_slot(slot, n)] = slots[slot];
      slots = next;
    }
    EXPECT_EQ(int(met.size()), n * (n - 1) / 2);
    for (int i = 0; i < n; ++i) EXPECT_EQ(slots[i], i);
  }
}

TEST(TwoSidedRotation, MakesABlockDiagonal) {
  using Ops = svd::ScalarOps<double>;
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    double m[4];
    for (double& x : m) x = i % 3 == 0 ? random.integer(-1, 1) : random.normal();
    if (i % 7 == 0) m[random.integer(0, 3)] *= 1e-200;
    const auto r = svd::two_sided_rotation<Ops>(m[0], m[1], m[2], m[3]);
    double rows[4];
    for (int c = 0; c < 2; ++c) {
      rows[c] = svd::rotated_first<Ops>(m[c], m[2 + c], r.left.s, r.left.tau);
      rows[2 + c] = svd::rotated_second<Ops>(m[c], m[2 + c], r.left.s, r.left.tau);
    }
    const double b = svd::rotated_second<Ops>(rows[0], rows[1], r.right.s, r.right.tau);
    const double c = svd::rotated_first<Ops>(rows[2], rows[3], r.right.s, r.right.tau);
    EXPECT_NEAR(b, 0, 4e-15);
    EXPECT_NEAR(c, 0, 4e-15);
    EXPECT_LE(std::abs(r.left.tau), 1);
    EXPECT_NEAR((1 - r.left.s * r.left.tau) * (1 - r.left.s * r.left.tau) + r.left.s * r.left.s, 1,
                4e-16);
  }
}

}  // namespace
}  // namespace cornea
