// SPDX-License-Identifier: Apache-2.0
// Threads that share one context, each with detectors, filters and matchers of its own: the results
// equal those of a single thread. `script/test tsan` runs this under ThreadSanitizer.
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/cornea.h"
#include "cornea/scene.h"

namespace cornea {
namespace {

class SharedContext : public testing::OnEveryDevice {
 protected:
  static const std::vector<View>& views() {
    static const std::vector<View> made = make_views(
        Context::cpu(), {.views = 2, .width = 320, .height = 240, .step_degrees = 8, .samples = 2});
    return made;
  }

  // Runs all jobs at once, each on a thread of its own, several times.
  static void at_once(const std::vector<std::function<void(int round)>>& jobs) {
    std::vector<std::thread> threads;
    for (const auto& job : jobs) {
      threads.emplace_back([&job] {
        for (int round = 0; round < 6; ++round) job(round);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
};
INSTANTIATE_TEST_SUITE_P(, SharedContext, testing::every_device(), testing::device_name);

TEST_P(SharedContext, TwoDetectorsOnTwoThreadsFindWhatEachFindsAlone) {
  const Image<float>&a = views()[0].image, &b = views()[1].image;
  const auto corners = Foagdd(context).detect(a), others = Harris(context).detect(b);
  ASSERT_GT(corners.size(), 50u);
  ASSERT_GT(others.size(), 50u);
  at_once({[&](int) { EXPECT_TRUE(Foagdd(context).detect(a) == corners); },
           [&](int) { EXPECT_TRUE(Harris(context).detect(b) == others); }});
  // And with objects that are constructed once.
  Foagdd foagdd(context);
  Harris harris(context);
  at_once({[&](int) { EXPECT_TRUE(foagdd.detect(a) == corners); },
           [&](int) { EXPECT_TRUE(harris.detect(b) == others); }});
}

// On CUDA, SIFT captures its steps in graphs while the others queue work on the context's stream.
TEST_P(SharedContext, WholePipelinesRunSideBySide) {
  const Image<float>&a = views()[0].image, &b = views()[1].image;
  const PairOptions options{.max_features = 800, .fundamental = {.max_hypotheses = 4096}};
  const PairResult forth = PairPipeline(context, options).run(a, b);
  const PairResult back = PairPipeline(context, options).run(b, a);
  ASSERT_GT(forth.geometry.inlier_count, 50);
  auto expect_same = [](const PairResult& result, const PairResult& expected) {
    EXPECT_TRUE(result.first.keypoints == expected.first.keypoints);
    EXPECT_TRUE(result.second.descriptors == expected.second.descriptors);
    EXPECT_TRUE(result.matches == expected.matches);
    EXPECT_EQ(result.geometry.F, expected.geometry.F);
  };
  PairPipeline first(context, options), second(context, options);
  GaussianFilter blur(context, {.sigma = 2});
  const Image<float> blurred = blur.apply(a);
  at_once({[&](int) { expect_same(first.run(a, b), forth); },
           [&](int) { expect_same(second.run(b, a), back); },
           [&](int round) {
             const Image<float> again = blur.apply(a);
             EXPECT_EQ(again(100 + round, 100), blurred(100 + round, 100));
             EXPECT_GE(context.memory().peak_bytes, context.memory().bytes);
             context.transfers();
           }});
}

TEST_P(SharedContext, CountsEveryAllocationAndRelease) {
  const Place place = context.is_cuda() ? Place::device : Place::host;
  const std::size_t held = context.memory().bytes;
  const std::uint64_t before = context.memory().allocations;
  auto take = [&](int round) {
    for (int i = 1; i < 50; ++i) {
      const Memory block = context.allocate(place, 64 * i + round, "threads");
      EXPECT_NE(block.data(), nullptr);
    }
  };
  at_once({take, take, take});
  EXPECT_EQ(context.memory().bytes, held);
  EXPECT_EQ(context.memory().allocations, before + 3 * 6 * 49);
}

}  // namespace
}  // namespace cornea
