#include "cornea/core/parallel.h"

#include <mutex>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/error.h"

namespace cornea {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnceInPiecesThatDoNotDependOnTheThreads) {
  for (int threads : {1, 2, 5}) {
    std::vector<int> visits(103, 0);
    std::set<std::pair<int, int>> pieces;
    std::mutex mutex;
    parallel_for(Context::cpu(threads), 103, 10, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) ++visits[i];
      std::lock_guard lock(mutex);
      pieces.insert({begin, end});
    });
    EXPECT_EQ(visits, std::vector<int>(103, 1));
    EXPECT_EQ(pieces.size(), 11u);
    EXPECT_TRUE(pieces.count({100, 103}));
  }
}

TEST(ParallelFor, ThrowsTheErrorOfTheFirstPiece) {
  for (int threads : {1, 2}) {
    try {
      parallel_for(Context::cpu(threads), 100, 10, [](int begin, int) {
        if (begin >= 30) throw std::runtime_error(text("piece ", begin));
      });
      FAIL() << "no error was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "piece 30");
    }
  }
}

TEST(ParallelFor, DoesNothingForNothing) {
  parallel_for(Context::cpu(2), 0, 4, [](int, int) { FAIL(); });
  EXPECT_THROW(parallel_for(Context::cpu(2), 5, 0, [](int, int) {}), Error);
}

}  // namespace
}  // namespace cornea
