// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/in_order.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace cornea {
namespace {

using namespace folder;

TEST(InOrder, ItemsComeInTheirOrderAndNotTooFarAhead) {
  constexpr std::size_t kCount = 2000, kAhead = 4;
  InOrder<std::size_t> items(kCount, kAhead);
  std::atomic<std::size_t> taken{0}, farthest{0};
  std::vector<std::thread> makers;
  for (int i = 0; i < 3; ++i) {
    makers.emplace_back([&] {
      while (const auto index = items.claim()) {
        const std::size_t ahead = *index - std::min(*index, taken.load());
        if (ahead > farthest) farthest = ahead;
        items.put(*index, 10 * *index);
      }
    });
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto item = items.take();
    ASSERT_TRUE(item);
    EXPECT_EQ(*item, 10 * i);
    ++taken;
  }
  EXPECT_FALSE(items.take());
  for (std::thread& t : makers) t.join();
  // One more than are waiting, because `taken` is counted after take().
  EXPECT_LE(farthest, kAhead);
}

TEST(InOrder, StopWakesAllWaitingThreads) {
  InOrder<int> items(100, 2);
  std::thread maker([&] {
    while (const auto index = items.claim()) items.put(*index, 0);  // waits for a free slot
  });
  InOrder<int> never(1, 1);
  std::thread user([&] { EXPECT_FALSE(never.take()); });
  items.stop();
  never.stop();
  maker.join();
  user.join();
  EXPECT_FALSE(items.take());
}

TEST(InOrder, AfterFinishOnlyClaimedItemsAreTaken) {
  InOrder<int> items(10, 4);
  for (int i = 0; i < 3; ++i) items.put(*items.claim(), i);
  items.finish();
  EXPECT_FALSE(items.claim());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(items.take(), i);
  EXPECT_FALSE(items.take());
}

}  // namespace
}  // namespace cornea
