// SPDX-License-Identifier: Apache-2.0
// Accuracy, the length of the search, and agreement between all devices.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

#include "cornea/core/error.h"
#include "cornea/geometry/two_view/fundamental_testing.h"

namespace cornea {
namespace {

using namespace core;
using namespace geometry;
using namespace testing;

double determinant(const std::array<double, 9>& m) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
         m[2] * (m[3] * m[7] - m[4] * m[6]);
}

INSTANTIATE_TEST_SUITE_P(, FundamentalOnDevice, every_device(), device_name);

TEST(EightPoint, FindsTheMatrixOfExactPoints) {
  for (int count : {8, 9, 20, 300}) {
    const MatchedPoints scene = make_matched_points({.count = count, .seed = std::uint64_t(count)});
    const auto F = eight_point(scene.matches);
    for (const Correspondence& p : scene.exact) EXPECT_LT(epipolar_distance(F, p), 0.01);
    EXPECT_LT(std::abs(determinant(F)), 1e-15);
  }
}

TEST(EightPoint, ErrorFallsWithTheNumberOfNoisyPoints) {
  const auto few = make_matched_points({.count = 30, .noise = 0.5, .seed = 1});
  const auto many = make_matched_points({.count = 3000, .noise = 0.5, .seed = 1});
  EXPECT_LT(median_distance(eight_point(many.matches), many.exact), 0.2);
  EXPECT_LT(median_distance(eight_point(many.matches), many.exact),
            median_distance(eight_point(few.matches), many.exact));
}

TEST(EightPoint, RejectsPointsThatDoNotDetermineF) {
  auto scene = make_matched_points({.count = 8, .seed = 3});
  EXPECT_THROW(eight_point(std::span(scene.matches).first(7)), Error);
  scene.matches[7] = scene.matches[2];
  EXPECT_THROW(eight_point(scene.matches), Error);
  EXPECT_THROW(eight_point(make_matched_points({.count = 50, .plane = 1, .seed = 3}).matches),
               Error);
  EXPECT_THROW(eight_point(std::vector<Correspondence>(20, {1, 2, 3, 4})), Error);
  scene.matches[7].x2 = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(eight_point(scene.matches), Error);
}

TEST(WithUnitCorner, DividesByTheLastEntryUnlessItIsNearZero) {
  const std::array<double, 9> h = {-0.5, 0, 0.25, 0, -0.5, 0.125, 0, 0, -0.25};
  EXPECT_EQ(with_unit_corner(h), (std::array<double, 9>{2, 0, -1, 0, 2, -0.5, 0, 0, 1}));
  const std::array<double, 9> far = {0.5, 0, 0.25, 0, 0.5, 0.125, 0.1, 0, 1e-8};
  EXPECT_EQ(with_unit_corner(far), far);
  EXPECT_EQ(with_unit_corner({}), (std::array<double, 9>{}));
}

TEST(EpipolarDistance, IsTheSumOfTwoDistancesToLines) {
  // A camera that moves along x: epipolar lines are rows.
  const std::array<double, 9> F = {0, 0, 0, 0, 0, -1, 0, 1, 0};
  EXPECT_NEAR(epipolar_distance(F, {10, 20, 300, 20}), 0, 1e-12);
  EXPECT_NEAR(epipolar_distance(F, {10, 20, 300, 21.5f}), 3, 1e-12);
  // An epipole has no epipolar line.
  const std::array<double, 9> forwards = {0, -1, 0, 1, 0, 0, 0, 0, 0};
  EXPECT_EQ(epipolar_distance(forwards, {0, 0, 0, 0}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(epipolar_distance({}, {1, 2, 3, 4}), std::numeric_limits<double>::infinity());
}

TEST_P(FundamentalOnDevice, FindsTheMatrixOfExactPoints) {
  const MatchedPoints scene = make_matched_points({.seed = 5});
  const FundamentalResult result = estimate(scene.matches);
  EXPECT_EQ(result.kind, TwoView::general);
  EXPECT_EQ(result.inlier_count, 500);
  EXPECT_EQ(result.rounds, 1);
  EXPECT_EQ(result.stop, StopReason::confidence);
  for (const Correspondence& p : scene.exact) EXPECT_LT(epipolar_distance(result.F, p), 0.01);
  double square = 0;
  for (double v : result.F) square += v * v;
  EXPECT_NEAR(square, 1, 1e-12);
  EXPECT_LT(std::abs(determinant(result.F)), 1e-12);
}

TEST_P(FundamentalOnDevice, MarksInliersByTheirDistance) {
  const MatchedPoints scene =
      make_matched_points({.count = 400, .outliers = 0.3, .noise = 0.3, .seed = 6});
  const FundamentalResult result = estimate(scene.matches);
  ASSERT_EQ(result.kind, TwoView::general);
  int count = 0;
  for (std::size_t i = 0; i < scene.matches.size(); ++i) {
    const double distance = epipolar_distance(result.F, scene.matches[i]);
    if (std::abs(distance - result.threshold) > 1e-6) {
      EXPECT_EQ(result.inliers[i], distance < result.threshold) << i;
    }
    count += result.inliers[i];
  }
  EXPECT_EQ(result.inlier_count, count);
  EXPECT_GT(count, 200);
}

TEST_P(FundamentalOnDevice, SucceedsDespiteOutliers) {
  // A trial succeeds if the median distance of the exact points is below one pixel.
  FundamentalOptions options{.threshold = 3};
  auto successes = [&](double outliers, int trials) {
    int count = 0;
    for (int i = 0; i < trials; ++i) {
      const auto scene = make_matched_points(
          {.count = 400, .outliers = outliers, .noise = 0.5, .seed = std::uint64_t(100 + i)});
      options.seed = i;
      const auto result = estimate(scene.matches, options);
      count += result.kind == TwoView::general && median_distance(result.F, scene.exact) < 1;
    }
    return count;
  };
  EXPECT_EQ(successes(0.5, 100), 100);
  EXPECT_GE(successes(0.75, 20), 19);
}

TEST_P(FundamentalOnDevice, AcceptsSamplesOfEverySize) {
  const auto scene = make_matched_points({.count = 400, .outliers = 0.4, .noise = 0.3, .seed = 7});
  for (int sample : {7, 8, 9, 10, 20, 32}) {
    FundamentalOptions options{.max_hypotheses = 20000, .sample = sample};
    const auto result = estimate(scene.matches, options);
    EXPECT_EQ(result.kind, TwoView::general) << sample;
    // Samples of 20 without outliers are rare; for them only the absence of errors is tested.
    if (sample <= 10) {
      EXPECT_LT(median_distance(result.F, scene.exact), 0.5) << sample;
    }
  }
}

TEST_P(FundamentalOnDevice, StopsForTheReasonItGives) {
  const auto scene = make_matched_points({.count = 300, .outliers = 0.5, .noise = 0.3, .seed = 8});
  FundamentalOptions options{.round = 100};
  const auto usual = estimate(scene.matches, options);
  EXPECT_EQ(usual.stop, StopReason::confidence);
  EXPECT_TRUE(usual.converged());
  EXPECT_EQ(usual.hypotheses, 100 * usual.rounds);
  // A lower confidence needs fewer hypotheses.
  options.confidence = 0.9;
  EXPECT_LT(estimate(scene.matches, options).hypotheses, usual.hypotheses);
  options.target = 60;
  const auto early = estimate(scene.matches, options);
  EXPECT_EQ(early.stop, StopReason::target);
  options = {.max_hypotheses = 130, .round = 100};
  const auto cut =
      estimate(make_matched_points({.count = 300, .outliers = 0.9, .seed = 9}).matches, options);
  EXPECT_EQ(cut.stop, StopReason::maximum);
  EXPECT_EQ(cut.hypotheses, 130);
  EXPECT_EQ(cut.rounds, 2);
  EXPECT_FALSE(cut.converged());
}

TEST_P(FundamentalOnDevice, GivesTheSameBytesForEveryBatchThreadCountAndRun) {
  std::vector<std::vector<Correspondence>> sets;
  for (int i = 0; i < 12; ++i) {
    sets.push_back(make_matched_points({.count = 8 + 97 * i,
                                        .outliers = 0.05 * i,
                                        .noise = 0.4,
                                        .seed = std::uint64_t(20 + i)})
                       .matches);
  }
  const std::vector<std::span<const Correspondence>> pairs(sets.begin(), sets.end());
  FundamentalOptions options{.max_hypotheses = 20000, .seed = 5};
  FundamentalEstimator estimator(context, options);
  std::vector<FundamentalResult> batch(sets.size()), again(sets.size());
  const std::vector<std::uint64_t> keys = keys_from(40, sets.size());
  estimator.estimate_batch(pairs, keys, batch);
  estimator.estimate_batch(pairs, keys, again);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    expect_equal(batch[i], again[i]);
    expect_equal(batch[i], estimator.estimate(sets[i], 40 + i));
  }
  if (context.is_cuda()) return;
  for (int threads : {1, 3}) {
    FundamentalEstimator other(Context::cpu(threads), options);
    other.estimate_batch(pairs, keys, again);
    for (std::size_t i = 0; i < sets.size(); ++i) expect_equal(batch[i], again[i]);
  }
}

TEST(FundamentalDevices, GiveTheSameBits) {
  if (testing::devices().size() < 2) GTEST_SKIP() << "there is no second device here";
  const Context cuda = Context::cuda();
  int pairs = 0, equal = 0;
  for (int sample : {7, 8, 10}) {
    for (int i = 0; i < 40; ++i) {
      const auto scene = make_matched_points({.count = 60 + 40 * i,
                                              .outliers = 0.1 * (i % 7),
                                              .noise = 0.1 * (i % 6),
                                              .plane = i % 5 == 0 ? 0.9 : 0.0,
                                              .moves = i % 11 != 0,
                                              .seed = std::uint64_t(300 + i)});
      FundamentalOptions options{.max_hypotheses = 5000, .sample = sample, .seed = 77};
      const auto a =
          estimator_with_sample(Context::cpu(), options, sample).estimate(scene.matches, i);
      const auto b = estimator_with_sample(cuda, options, sample).estimate(scene.matches, i);
      SCOPED_TRACE(text("sample ", sample, ", scene ", i));
      EXPECT_EQ(a.kind, b.kind);
      EXPECT_EQ(a.inliers, b.inliers);
      EXPECT_EQ(a.hypotheses, b.hypotheses);
      for (int k = 0; k < 9; ++k) EXPECT_NEAR(a.F[k], b.F[k], 1e-6);
      ++pairs;
      equal += a.F == b.F && a.H == b.H;
    }
  }
  std::printf("[ F        ] %d pairs, %d equal to the bit\n", pairs, equal);
  EXPECT_EQ(equal, pairs);
}

TEST_P(FundamentalOnDevice, DrawsNoMoreThanTheMatchesCanSupport) {
  Random random(36);
  auto noise = [&](int count) {
    std::vector<Correspondence> matches;
    for (int k = 0; k < count; ++k) {
      auto v = [&] { return float(random.uniform(0, 1000)); };
      matches.push_back({v(), v(), v(), v()});
    }
    return matches;
  };
  // log(1 - p) / log(1 - C(m, 8) / C(n, 8)) with m = 15, rounded up to whole rounds.
  for (const auto& [count, most] : {std::pair(30, 7 * 1024), std::pair(43, 153 * 1024)}) {
    const auto result = estimate(noise(count), {.threshold = 0.2});
    EXPECT_EQ(result.kind, TwoView::none) << count;
    EXPECT_EQ(result.hypotheses, most) << count;
    EXPECT_EQ(result.stop, StopReason::confidence) << count;
  }
  const auto many = estimate(noise(60), {.threshold = 0.2});
  EXPECT_EQ(many.hypotheses, 300000);
  EXPECT_EQ(many.stop, StopReason::maximum);
}

// Labelled matches of building facades: label 1 marks those of one fundamental matrix.
TEST_P(FundamentalOnDevice, IsAccurateOnPhotographs) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(folder, "data/correspondences/adelaidermf");
  double sum = 0;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    std::string line;
    std::getline(in, line);
    std::vector<Correspondence> matches, labelled;
    while (std::getline(in, line)) {
      std::replace(line.begin(), line.end(), ',', ' ');
      std::istringstream words(line);
      Correspondence m;
      int label = 0;
      words >> m.x1 >> m.y1 >> m.x2 >> m.y2 >> label;
      matches.push_back(m);
      if (label == 1) labelled.push_back(m);
    }
    double mean = 0;
    constexpr int kSeeds = 5;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const auto result = estimate(matches, {.seed = std::uint64_t(seed)});
      const double median = median_distance(result.F, labelled);
      EXPECT_LT(median, 1.2) << entry.path().stem() << ", seed " << seed;
      mean += median / kSeeds;
    }
    EXPECT_LT(mean, 1.0) << entry.path().stem();
    sum += mean;
    ++files;
  }
  EXPECT_LT(sum / files, 0.55);
}

}  // namespace
}  // namespace cornea
