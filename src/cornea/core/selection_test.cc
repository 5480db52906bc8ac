// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/selection.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cornea/core/random.h"

namespace cornea {
namespace {

using namespace core;

struct Item {
  int value, cell, place;
  friend bool operator==(const Item&, const Item&) = default;
};

// Few distinct values, so that ties are frequent.
std::vector<Item> random_items(int count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Item> items;
  for (int i = 0; i < count; ++i) items.push_back({random.integer(0, 9), random.integer(0, 6), i});
  return items;
}

// The definition: an item is kept if fewer than `most` items of its cell (or of all) rank before
// it.
std::vector<Item> plain(const std::vector<Item>& items, int most, bool per_cell) {
  std::vector<Item> kept;
  for (const Item& item : items) {
    const auto ahead = std::count_if(items.begin(), items.end(), [&](const Item& other) {
      return (!per_cell || other.cell == item.cell) &&
             (other.value > item.value || (other.value == item.value && other.place < item.place));
    });
    if (ahead < most) kept.push_back(item);
  }
  return kept;
}

int value_of(const Item& item) { return item.value; }
std::uint64_t cell_of(const Item& item) { return std::uint64_t(item.cell); }

TEST(Selection, KeepsTheStrongestInOrderAndTheFirstOfTies) {
  for (int round = 0; round < 40; ++round) {
    const std::vector<Item> items = random_items(round * 3, round);
    for (int most : {0, 1, 5, 40, 1000}) {
      std::vector<Item> kept = items;
      keep_strongest(kept, most, value_of);
      EXPECT_EQ(kept, plain(items, most, false)) << items.size() << " items, " << most;
    }
  }
}

TEST(Selection, KeepsTheStrongestOfEveryCell) {
  for (int round = 0; round < 40; ++round) {
    const std::vector<Item> items = random_items(round * 3, 100 + round);
    for (int most : {1, 2, 7, 1000}) {
      std::vector<Item> kept = items;
      keep_strongest_per_cell(kept, most, cell_of, value_of);
      EXPECT_EQ(kept, plain(items, most, true)) << items.size() << " items, " << most;
    }
  }
}

}  // namespace
}  // namespace cornea
