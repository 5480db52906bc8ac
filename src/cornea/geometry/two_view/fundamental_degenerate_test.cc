// SPDX-License-Identifier: Apache-2.0
// Points that do not determine a fundamental matrix, or determine one of many: planes, lines, too
// few points, chance.
#include <algorithm>
#include <cmath>

#include "cornea/core/random.h"
#include "cornea/geometry/two_view/fundamental_testing.h"

namespace cornea {
namespace {

using namespace core;
using namespace geometry;
using namespace testing;

TEST_P(FundamentalOnDevice, DistinguishesAPlaneFromAScene) {
  for (int i = 0; i < 10; ++i) {
    const auto plane = make_matched_points(
        {.count = 300, .outliers = 0.2, .noise = 0.4, .plane = 1, .seed = std::uint64_t(50 + i)});
    const auto result = estimate(plane.matches);
    EXPECT_EQ(result.kind, TwoView::planar) << i;
    EXPECT_GT(result.inlier_count, 200);
    // H maps the exact points to each other.
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
  // Points exactly on a plane.
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
    // The points off the plane are the last ones of the exact points.
    const std::vector<Correspondence> off(scene.exact.end() - 40, scene.exact.end());
    EXPECT_LT(median_distance(result.F, off), 1.5) << i;
  }
}

TEST_P(FundamentalOnDevice, ClassifiesPointsThatDoNotDetermineF) {
  const auto scene = make_matched_points({.count = 8, .seed = 11});
  EXPECT_EQ(estimate({}).kind, TwoView::too_few_points);
  EXPECT_EQ(estimate({scene.matches.begin(), scene.matches.begin() + 7}).kind,
            TwoView::too_few_points);
  auto doubled = scene.matches;
  doubled[6] = doubled[1];
  EXPECT_EQ(estimate(doubled, {.max_hypotheses = 100}).kind, TwoView::too_few_points);
  auto close = scene.matches;  // two matches that differ only in the last bit of one coordinate
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

TEST_P(FundamentalOnDevice, WorksWithFewPoints) {
  for (int count : {8, 9, 10, 12, 16}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto scene = make_matched_points({.count = count, .seed = seed});
      const auto result = estimate(scene.matches, {.max_hypotheses = 5000});
      EXPECT_EQ(result.kind, TwoView::general) << count << ", seed " << seed;
      EXPECT_EQ(result.inlier_count, count) << seed;
    }
  }
}

// An F has at least 15 inliers, or 8 that are half of all, also after the refinement. A plane has
// at least 8.
TEST_P(FundamentalOnDevice, DoesNotReportAGeometryThatAroseByChance) {
  Random random(35);
  int found = 0, refused = 0;
  for (int i = 0; i < 120; ++i) {
    // A model with 15 inliers or a few more, some of which the refinement may lose.
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

// Among thousands of random points, dozens lie near the epipolar lines of some F.
TEST_P(FundamentalOnDevice, FindsNothingInThousandsOfRandomPoints) {
  Random random(22);
  std::vector<Correspondence> noise;
  for (int k = 0; k < 4000; ++k) {
    auto v = [&] { return float(random.uniform(0, 1000)); };
    noise.push_back({v(), v(), v(), v()});
  }
  for (const double threshold : {0.0, 1.5, 10.0}) {
    const auto result = estimate(noise, {.threshold = threshold, .max_hypotheses = 3000});
    EXPECT_EQ(result.kind, TwoView::none) << threshold;
    EXPECT_EQ(result.inlier_count, 0);
  }
  // 100 matches of a scene among them are a geometry.
  const auto scene = make_matched_points({.count = 100, .noise = 0.3, .seed = 5});
  std::vector<Correspondence> mixed(noise.begin(), noise.begin() + 200);
  mixed.insert(mixed.end(), scene.matches.begin(), scene.matches.end());
  EXPECT_EQ(estimate(mixed).kind, TwoView::general);
}

// A given threshold that is far wider than the noise must not hide the depth of a scene.
TEST_P(FundamentalOnDevice, AWideThresholdDoesNotMakeAPlane) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto scene = make_matched_points({.count = 400, .noise = 0.3, .seed = seed});
    const auto result = estimate(scene.matches, {.threshold = 60});
    EXPECT_EQ(result.kind, TwoView::general) << seed;
    EXPECT_EQ(result.threshold, 60);
  }
}

TEST_P(FundamentalOnDevice, SearchesWidelyWithoutRefinementToo) {
  const auto scene = make_matched_points({.count = 400, .noise = 3, .seed = 8});
  const auto result = estimate(scene.matches, {.refine = false});
  EXPECT_EQ(result.kind, TwoView::general);
  EXPECT_GT(result.threshold, 10);
  EXPECT_GT(result.inlier_count, 300);
}

}  // namespace
}  // namespace cornea
