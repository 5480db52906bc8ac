#include "cornea/geometry/two_view/fundamental.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/geometry/two_view/fundamental_study.h"
#include "cornea/scene/matched_points.h"

namespace cornea {
namespace {

using namespace core;
using namespace geometry;

double median_distance(const std::array<double, 9>& F, const std::vector<Correspondence>& points) {
  std::vector<double> distances;
  for (const Correspondence& p : points) distances.push_back(epipolar_distance(F, p));
  std::nth_element(distances.begin(), distances.begin() + distances.size() / 2, distances.end());
  return distances[distances.size() / 2];
}

double determinant(const std::array<double, 9>& m) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
         m[2] * (m[3] * m[7] - m[4] * m[6]);
}

void expect_equal(const FundamentalResult& a, const FundamentalResult& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.F, b.F);
  EXPECT_EQ(a.H, b.H);
  EXPECT_EQ(a.inliers, b.inliers);
  EXPECT_EQ(a.inlier_count, b.inlier_count);
  EXPECT_EQ(a.hypotheses, b.hypotheses);
  EXPECT_EQ(a.rounds, b.rounds);
  EXPECT_EQ(a.stop, b.stop);
}

class FundamentalOnDevice : public testing::OnEveryDevice {
 protected:
  FundamentalResult estimate(const std::vector<Correspondence>& matches,
                             const FundamentalOptions& options = {}) {
    return estimator_with_sample(context, options, options.sample).estimate(matches);
  }
};
INSTANTIATE_TEST_SUITE_P(, FundamentalOnDevice, testing::every_device(), testing::device_name);

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

TEST(EightPoint, FindsTheMatrixOfExactPoints) {
  for (int count : {8, 9, 20, 300}) {
    const MatchedPoints scene = make_matched_points({.count = count, .seed = std::uint64_t(count)});
    const auto F = eight_point(scene.matches);
    for (const Correspondence& p : scene.exact) EXPECT_LT(epipolar_distance(F, p), 0.01);
    EXPECT_LT(std::abs(determinant(F)), 1e-15);
  }
}

TEST(EightPoint, FitsNoisyPointsTheBetterTheMoreThereAre) {
  const auto few = make_matched_points({.count = 30, .noise = 0.5, .seed = 1});
  const auto many = make_matched_points({.count = 3000, .noise = 0.5, .seed = 1});
  EXPECT_LT(median_distance(eight_point(many.matches), many.exact), 0.2);
  EXPECT_LT(median_distance(eight_point(many.matches), many.exact),
            median_distance(eight_point(few.matches), many.exact));
}

TEST(EightPoint, RefusesPointsThatFixNoMatrix) {
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

TEST(WithUnitCorner, DividesByTheLastEntryWhereThatIsNotNearNought) {
  const std::array<double, 9> h = {-0.5, 0, 0.25, 0, -0.5, 0.125, 0, 0, -0.25};
  EXPECT_EQ(with_unit_corner(h), (std::array<double, 9>{2, 0, -1, 0, 2, -0.5, 0, 0, 1}));
  const std::array<double, 9> far = {0.5, 0, 0.25, 0, 0.5, 0.125, 0.1, 0, 1e-8};
  EXPECT_EQ(with_unit_corner(far), far);
  EXPECT_EQ(with_unit_corner({}), (std::array<double, 9>{}));
}

TEST(EpipolarDistance, IsTheSumOfTwoDistancesToLines) {
  // A camera that moves along x: lines are rows.
  const std::array<double, 9> F = {0, 0, 0, 0, 0, -1, 0, 1, 0};
  EXPECT_NEAR(epipolar_distance(F, {10, 20, 300, 20}), 0, 1e-12);
  EXPECT_NEAR(epipolar_distance(F, {10, 20, 300, 21.5f}), 3, 1e-12);
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
  // A success: the median of the exact points lies within a pixel.
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

TEST_P(FundamentalOnDevice, TakesSamplesOfEverySize) {
  const auto scene = make_matched_points({.count = 400, .outliers = 0.4, .noise = 0.3, .seed = 7});
  for (int sample : {7, 8, 9, 10, 20, 32}) {
    FundamentalOptions options{.max_hypotheses = 20000, .sample = sample};
    const auto result = estimate(scene.matches, options);
    EXPECT_EQ(result.kind, TwoView::general) << sample;
    // Without outliers a sample of 20 is rare: what matters there is that it runs.
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
  // (1 - q^8)^N <= 1 - p holds now and did not a round before.
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

TEST_P(FundamentalOnDevice, TellsAPlaneFromAScene) {
  for (int i = 0; i < 10; ++i) {
    const auto plane = make_matched_points(
        {.count = 300, .outliers = 0.2, .noise = 0.4, .plane = 1, .seed = std::uint64_t(50 + i)});
    const auto result = estimate(plane.matches);
    EXPECT_EQ(result.kind, TwoView::planar) << i;
    EXPECT_GT(result.inlier_count, 200);
    // H maps the exact points.
    double worst = 0;
    for (const Correspondence& p : plane.exact) {
      const auto& h = result.H;
      const double w = h[6] * p.x1 + h[7] * p.y1 + h[8];
      worst = std::max(worst, std::hypot((h[0] * p.x1 + h[1] * p.y1 + h[2]) / w - p.x2,
                                         (h[3] * p.x1 + h[4] * p.y1 + h[5]) / w - p.y2));
    }
    EXPECT_LT(worst, 1.5) << i;
    const auto turned = make_matched_points({.count = 300,
                                             .outliers = 0.2,
                                             .noise = 0.4,
                                             .moves = false,
                                             .seed = std::uint64_t(70 + i)});
    EXPECT_EQ(estimate(turned.matches).kind, TwoView::planar) << i;
  }
  // To the last bit on a plane.
  EXPECT_EQ(estimate(make_matched_points({.count = 200, .plane = 1, .seed = 60}).matches).kind,
            TwoView::planar);
  EXPECT_EQ(estimate(make_matched_points({.count = 200, .moves = false, .seed = 60}).matches).kind,
            TwoView::planar);
}

TEST_P(FundamentalOnDevice, FindsTheMatrixBesideADominantPlane) {
  for (int i = 0; i < 20; ++i) {
    const auto scene = make_matched_points({.count = 400,
                                            .outliers = 0.3,
                                            .noise = 0.3,
                                            .plane = 0.85,
                                            .seed = std::uint64_t(80 + i)});
    const auto result = estimate(scene.matches);
    EXPECT_EQ(result.kind, TwoView::general) << i;
    // The points off the plane are the last of the exact ones.
    const std::vector<Correspondence> off(scene.exact.end() - 40, scene.exact.end());
    EXPECT_LT(median_distance(result.F, off), 1.5) << i;
  }
}

TEST_P(FundamentalOnDevice, SaysWhatPointsAreThatFixNoMatrix) {
  const auto scene = make_matched_points({.count = 8, .seed = 11});
  EXPECT_EQ(estimate({}).kind, TwoView::too_few_points);
  EXPECT_EQ(estimate({scene.matches.begin(), scene.matches.begin() + 7}).kind,
            TwoView::too_few_points);
  auto doubled = scene.matches;
  doubled[6] = doubled[1];
  EXPECT_EQ(estimate(doubled, {.max_hypotheses = 100}).kind, TwoView::too_few_points);
  auto close = scene.matches;  // seven places, to less than float sees of them
  close[6] = close[1];
  close[6].x1 = std::nextafter(close[6].x1, 0.0f);
  EXPECT_EQ(estimate(close, {.max_hypotheses = 100}).kind, TwoView::degenerate);
  EXPECT_EQ(estimate(std::vector<Correspondence>(50, {3, 4, 5, 6}), {.max_hypotheses = 100}).kind,
            TwoView::too_few_points);
  std::vector<Correspondence> line, wobbly, second_on_a_line;
  Random random(12);
  for (int i = 0; i < 50; ++i) {
    line.push_back({10.0f * i, 5.0f * i, 7.0f * i + 3, 100 - 2.0f * i});
    auto noisy = [&](float v) { return v + 0.1f * float(random.normal()); };
    wobbly.push_back({noisy(line[i].x1), noisy(line[i].y1), noisy(line[i].x2), noisy(line[i].y2)});
    second_on_a_line.push_back(
        {float(random.uniform(0, 900)), float(random.uniform(0, 900)), line[i].x2, line[i].y2});
  }
  for (int sample : {7, 8, 10}) {
    const FundamentalOptions options{.max_hypotheses = 2000, .sample = sample};
    EXPECT_EQ(estimate(line, options).kind, TwoView::degenerate) << sample;
    EXPECT_EQ(estimate(wobbly, options).kind, TwoView::degenerate) << sample;
    EXPECT_EQ(estimate(second_on_a_line, options).kind, TwoView::degenerate) << sample;
  }
  std::vector<Correspondence> noise;
  for (int i = 0; i < 100; ++i) {
    auto v = [&] { return float(random.uniform(0, 1000)); };
    noise.push_back({v(), v(), v(), v()});
  }
  const auto nothing = estimate(noise, {.threshold = 0.01f, .max_hypotheses = 2000});
  EXPECT_EQ(nothing.kind, TwoView::none);
  EXPECT_EQ(nothing.stop, StopReason::maximum);
  EXPECT_EQ(nothing.F, (std::array<double, 9>{}));
}

TEST_P(FundamentalOnDevice, ManagesWithFewPoints) {
  for (int count : {8, 9, 10, 12, 16}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto scene = make_matched_points({.count = count, .seed = seed});
      const auto result = estimate(scene.matches, {.max_hypotheses = 5000});
      EXPECT_EQ(result.kind, TwoView::general) << count << ", seed " << seed;
      EXPECT_EQ(result.inlier_count, count) << seed;
    }
  }
}

TEST_P(FundamentalOnDevice, CountsRepeatedCorrespondencesOnce) {
  const auto scene = make_matched_points({.count = 300, .outliers = 0.4, .noise = 0.3, .seed = 33});
  const auto once = estimate(scene.matches);
  ASSERT_EQ(once.kind, TwoView::general);
  EXPECT_EQ(once.places, 300);
  // Copies behind, and some of each in between: the first of each stand in the old order.
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

TEST_P(FundamentalOnDevice, CopiesDoNotReachAMinimum) {
  // Eight wrong matches, a hundred times each: no more than eight.
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

// An F has 15 inliers, or 8 that are half of all: also after the refinement. A plane has 8.
TEST_P(FundamentalOnDevice, NeverCallsChanceAGeometry) {
  Random random(35);
  int found = 0, refused = 0;
  for (int i = 0; i < 120; ++i) {
    // A model of 15 inliers or a few more, some of which the refinement may lose.
    auto scene =
        make_matched_points({.count = 15 + i % 5, .noise = 0.5, .seed = std::uint64_t(500 + i)});
    const int wrong = 16 + i % 12;
    for (int k = 0; k < wrong; ++k) {
      auto v = [&] { return float(random.uniform(0, 1000)); };
      scene.matches.push_back({v(), v(), v(), v()});
    }
    const auto result = estimate(scene.matches);
    if (result.kind == TwoView::general || result.kind == TwoView::planar) {
      ++found;
      EXPECT_GE(result.inlier_count, result.kind == TwoView::general ? 15 : 8) << i;
      EXPECT_FALSE(result.may_be_chance());
    } else {
      ++refused;
      EXPECT_EQ(result.inlier_count, 0);
      EXPECT_EQ(result.F, (std::array<double, 9>{}));
    }
  }
  EXPECT_GT(found, 5);
  EXPECT_GT(refused, 5);
  const auto few = estimate(make_matched_points({.count = 10, .seed = 3}).matches);
  EXPECT_EQ(few.inlier_count, 10);
  EXPECT_TRUE(few.may_be_chance());
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
  // log(1 - p) / log(1 - C(m, 8) / C(n, 8)) with m = 15: rounded up to whole rounds.
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

TEST_P(FundamentalOnDevice, FindsNothingInRandomPoints) {
  Random random(21);
  for (int i = 0; i < 5; ++i) {
    std::vector<Correspondence> noise;
    for (int k = 0; k < 60 + 40 * i; ++k) {
      auto v = [&] { return float(random.uniform(0, 1000)); };
      noise.push_back({v(), v(), v(), v()});
    }
    EXPECT_EQ(estimate(noise, {.max_hypotheses = 20000}).kind, TwoView::none) << i;
  }
}

TEST_P(FundamentalOnDevice, AWildCoordinateDoesNotMatter) {
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

TEST_P(FundamentalOnDevice, RefusesWhatIsNotANumberAndNamesIt) {
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

TEST_P(FundamentalOnDevice, TakesFarAndLargeCoordinates) {
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
  const auto scene = make_matched_points({.count = 300, .outliers = 0.4, .noise = 0.3, .seed = 15});
  FundamentalEstimator estimator(context);
  estimator.estimate(scene.matches);
  const auto before = context.memory().allocations;
  estimator.estimate(scene.matches, 1);
  EXPECT_EQ(context.memory().allocations, before);
}

// Matches of building facades with a label each: 1 for those of one fundamental matrix.
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
