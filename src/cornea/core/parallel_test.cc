// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/parallel.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cornea/core/error.h"

namespace cornea {
namespace {

using namespace core;

TEST(ParallelFor, VisitsEveryIndexOnceInPiecesIndependentOfTheThreadCount) {
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

TEST(ParallelFor, NeverCallsTheBodyForAnEmptyRange) {
  parallel_for(Context::cpu(2), 0, 4, [](int, int) { FAIL(); });
  EXPECT_THROW(parallel_for(Context::cpu(2), 5, 0, [](int, int) {}), Error);
}

// Seconds of processor time that the process has used.
double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

TEST(ParallelFor, ThreadsWithoutWorkSleep) {
  const Context context = Context::cpu(8);
  parallel_for(context, 64, 1, [](int, int) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // longer than idle threads spin
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(processor_seconds() - before, 0.02);
}

TEST(ParallelFor, SupportsConcurrentCallersAndNestedLoops) {
  const Context context = Context::cpu(3);
  constexpr int kCallers = 4, kLoops = 200, kCount = 50;
  std::vector<std::vector<int>> sums(kCallers, std::vector<int>(kLoops));
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int loop = 0; loop < kLoops; ++loop) {
        std::vector<int> seen(kCount);
        parallel_for(context, kCount / 10, 1, [&](int begin, int) {
          parallel_for(context, 10, 3, [&](int first, int last) {
            for (int i = first; i < last; ++i) seen[begin * 10 + i] = begin * 10 + i + loop;
          });
        });
        sums[caller][loop] = std::accumulate(seen.begin(), seen.end(), 0);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (int caller = 0; caller < kCallers; ++caller) {
    for (int loop = 0; loop < kLoops; ++loop) {
      ASSERT_EQ(sums[caller][loop], kCount * (kCount - 1) / 2 + kCount * loop);
    }
  }
}

// Runs f in a child process and returns its result.
int in_child(const std::function<int()>& f) {
  const pid_t child = fork();
  if (child == 0) _exit(f());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Threads, DefaultToWhatTheProcessMayUse) {
  auto with_setting = [](const char* value) {
    return in_child([value] {
      setenv("OMP_NUM_THREADS", value, 1);
      return Context::cpu().threads();
    });
  };
  EXPECT_EQ(with_setting("3"), 3);
  EXPECT_EQ(with_setting("5,2"), 5);
  const int free = in_child([] {
    unsetenv("OMP_NUM_THREADS");
    return Context::cpu().threads();
  });
  EXPECT_EQ(with_setting("none"), free);
  EXPECT_EQ(with_setting("0"), free);
#ifdef __linux__
  EXPECT_EQ(in_child([] {
              unsetenv("OMP_NUM_THREADS");
              cpu_set_t all, one;
              sched_getaffinity(0, sizeof all, &all);
              CPU_ZERO(&one);
              for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
                if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
              }
              sched_setaffinity(0, sizeof one, &one);
              return Context::cpu().threads();
            }),
            1);
#endif
}

}  // namespace
}  // namespace cornea
