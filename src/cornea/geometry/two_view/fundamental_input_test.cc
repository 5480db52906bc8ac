// SPDX-License-Identifier: Apache-2.0
// Repeated matches, extreme and invalid coordinates, invalid options, and memory.
#include <algorithm>
#include <limits>
#include <string>

#include "cornea/core/error.h"
#include "cornea/core/random.h"
#include "cornea/geometry/two_view/fundamental_testing.h"

namespace cornea {
namespace {

using namespace core;
using namespace geometry;
using namespace testing;

TEST_P(FundamentalOnDevice, CountsRepeatedCorrespondencesOnce) {
  const auto scene = make_matched_points({.count = 300, .outliers = 0.4, .noise = 0.3, .seed = 33});
  const auto once = estimate(scene.matches);
  ASSERT_EQ(once.kind, TwoView::general);
  EXPECT_EQ(once.places, 300);
  // Copies directly after a match and further ones later; the first occurrences keep the original
  // order.
  std::vector<Correspondence> repeated;
  std::vector<std::size_t> original;
  for (std::size_t i = 0; i < scene.matches.size(); ++i) {
    for (std::size_t copy = 0; copy <= i % 3; ++copy) {
      repeated.push_back(scene.matches[i]);
      original.push_back(i);
    }
    repeated.push_back(scene.matches[i / 2]);
    original.push_back(i / 2);
  }
  const auto many = estimate(repeated);
  EXPECT_EQ(many.F, once.F);
  EXPECT_EQ(many.kind, once.kind);
  EXPECT_EQ(many.inlier_count, once.inlier_count);
  EXPECT_EQ(many.places, 300);
  EXPECT_EQ(many.hypotheses, once.hypotheses);
  ASSERT_EQ(many.inliers.size(), repeated.size());
  for (std::size_t i = 0; i < repeated.size(); ++i) {
    ASSERT_EQ(many.inliers[i], once.inliers[original[i]]) << i;
  }
}

TEST_P(FundamentalOnDevice, CopiesDoNotCountTowardsTheMinimum) {
  // Eight wrong matches, a hundred copies of each, still count as eight.
  Random random(34);
  std::vector<Correspondence> wrong, copies;
  for (int k = 0; k < 20; ++k) {
    auto v = [&] { return float(random.uniform(0, 1000)); };
    wrong.push_back({v(), v(), v(), v()});
  }
  for (int i = 0; i < 100; ++i) copies.insert(copies.end(), wrong.begin(), wrong.begin() + 8);
  for (const Correspondence& m : wrong) copies.push_back(m);
  const auto result = estimate(copies);
  EXPECT_EQ(result.kind, TwoView::none);
  EXPECT_EQ(result.places, 20);
  EXPECT_EQ(result.inlier_count, 0);
  const auto few = estimate(std::vector<Correspondence>(copies.begin(), copies.begin() + 700));
  EXPECT_EQ(few.places, 8);
  EXPECT_LE(few.inlier_count, 8);
  const auto seven = make_matched_points({.count = 7, .seed = 2}).matches;
  copies.clear();
  for (int i = 0; i < 100; ++i) copies.insert(copies.end(), seven.begin(), seven.end());
  const auto less = estimate(copies);
  EXPECT_EQ(less.kind, TwoView::too_few_points);
  EXPECT_EQ(less.inliers, std::vector<std::uint8_t>(700, 0));
  EXPECT_EQ(less.places, 7);
}

TEST_P(FundamentalOnDevice, ABatchMayHoldPairsWithAndWithoutCopies) {
  std::vector<std::vector<Correspondence>> sets;
  for (int i = 0; i < 40; ++i) {
    sets.push_back(
        make_matched_points({.count = 60 + i, .outliers = 0.3, .seed = std::uint64_t(400 + i)})
            .matches);
    if (i % 3 == 0) sets.back().insert(sets.back().end(), sets.back().begin(), sets.back().end());
    if (i % 7 == 0) sets.back().assign(30, {1, 2, 3, 4});
  }
  const std::vector<std::span<const Correspondence>> pairs(sets.begin(), sets.end());
  FundamentalEstimator estimator(context, {.max_hypotheses = 5000});
  std::vector<FundamentalResult> batch(sets.size());
  estimator.estimate_batch(pairs, keys_from(9, sets.size()), batch);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(batch[i].inliers.size(), sets[i].size());
    expect_equal(batch[i], estimator.estimate(sets[i], 9 + i));
  }
}

TEST_P(FundamentalOnDevice, AnExtremeCoordinateHasNoInfluence) {
  const auto scene = make_matched_points({.count = 300, .outliers = 0.3, .noise = 0.3, .seed = 31});
  const auto usual = estimate(scene.matches);
  for (const float wild : {1e6f, 1e9f, 1e20f, 3e38f}) {
    auto matches = scene.matches;
    const auto outlier = std::find(scene.inliers.begin(), scene.inliers.end(), 0);
    matches[outlier - scene.inliers.begin()].x1 = wild;
    const auto result = estimate(matches);
    EXPECT_EQ(result.kind, TwoView::general) << wild;
    EXPECT_NEAR(result.inlier_count, usual.inlier_count, 5) << wild;
    EXPECT_LT(median_distance(result.F, scene.exact), 0.3) << wild;
  }
}

TEST_P(FundamentalOnDevice, RejectsInvalidInputAndNamesIt) {
  auto scene = make_matched_points({.count = 30, .seed = 13});
  scene.matches[17].y2 = std::numeric_limits<float>::quiet_NaN();
  try {
    estimate(scene.matches);
    FAIL() << "there was no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("17"), std::string::npos) << error.what();
  }
  EXPECT_THROW(FundamentalEstimator(context, {.threshold = -1}), Error);
  EXPECT_THROW(FundamentalEstimator(context, {.confidence = 1}), Error);
  EXPECT_THROW(FundamentalEstimator(context, {.sample = 6}), Error);
  EXPECT_THROW(FundamentalEstimator(context, {.sample = 9}), Error);
  EXPECT_THROW(estimator_with_sample(context, {}, 33), Error);
  EXPECT_THROW(FundamentalEstimator(context, {.round = 0}), Error);
}

TEST_P(FundamentalOnDevice, AcceptsLargeCoordinates) {
  auto scene = make_matched_points({.count = 200, .outliers = 0.3, .noise = 0.3, .seed = 14});
  const auto near = estimate(scene.matches, {.threshold = 1.5});
  for (Correspondence& m : scene.matches) {
    m.x1 = 4 * m.x1 + 8192;  // exact in float
    m.y1 = 4 * m.y1 - 4096;
    m.x2 *= 4;
    m.y2 *= 4;
  }
  const auto far = estimate(scene.matches, {.threshold = 6});
  EXPECT_EQ(far.kind, TwoView::general);
  EXPECT_NEAR(far.inlier_count, near.inlier_count, 4);
}

TEST_P(FundamentalOnDevice, AllocatesNothingAfterTheFirstCall) {
  if (!context.is_cuda()) GTEST_SKIP() << "the CPU takes nothing from the pool";
  const auto scene = make_matched_points({.count = 300, .outliers = 0.4, .noise = 0.3, .seed = 15});
  FundamentalEstimator estimator(context);
  estimator.estimate(scene.matches);
  const auto before = context.memory().allocations;
  estimator.estimate(scene.matches, 1);
  EXPECT_EQ(context.memory().allocations, before);
}

}  // namespace
}  // namespace cornea
