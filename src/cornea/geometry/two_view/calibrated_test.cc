// SPDX-License-Identifier: Apache-2.0
// E and H on generated scenes, on every device.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/geometry/two_view/calibrated_testing.h"
#include "cornea/geometry/two_view/two_view.h"

namespace cornea {
namespace {

using namespace core;
using namespace cornea::testing;

class CalibratedOnDevice : public testing::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(, CalibratedOnDevice, testing::every_device(), testing::device_name);

TEST_P(CalibratedOnDevice, FindsThePoseDespiteNoiseAndOutliers) {
  EssentialEstimator estimator(context);
  for (int i = 0; i < 12; ++i) {
    SCOPED_TRACE(i);
    const Views views = make_views(i, 300, 0.5, 0.1 * (i % 6));
    const EssentialResult result = estimator.estimate(views.matches, kCameras, i);
    ASSERT_EQ(result.kind, TwoView::general);
    EXPECT_FALSE(result.pure_rotation);
    EXPECT_LT(rotation_error(result.R, views.scene), 0.3);
    EXPECT_LT(translation_error(result.t, views.scene), 1.5);
    EXPECT_NEAR(std::hypot(result.t[0], result.t[1], result.t[2]), 1, 1e-12);
    int wrong = 0, missed = 0;
    for (std::size_t k = 0; k < views.matches.size(); ++k) {
      wrong += result.inliers[k] && !views.right[k];
      missed += !result.inliers[k] && views.right[k];
    }
    EXPECT_LT(wrong, 12);
    EXPECT_LT(missed, 12);
  }
}

TEST_P(CalibratedOnDevice, TriangulatesInliersAtTheirTruePositions) {
  const Views views = make_views(3, 200, 0.1, 0.2);
  const EssentialResult result = EssentialEstimator(context).estimate(views.matches, kCameras);
  ASSERT_EQ(result.kind, TwoView::general);
  std::vector<double> errors;
  for (std::size_t k = 0; k < views.matches.size(); ++k) {
    const auto& p = result.points[k];
    if (!result.inliers[k] || !views.right[k]) {
      if (!result.inliers[k]) {
        EXPECT_EQ(p, (std::array<float, 3>{}));
      }
      continue;
    }
    const auto& q = views.scene.points[k];
    errors.push_back(std::hypot(p[0] - q.x, p[1] - q.y, p[2] - q.z) / q.z);
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_GT(errors.size(), 120u);
  EXPECT_LT(errors[errors.size() / 2], 0.01);
  EXPECT_GT(result.median_angle_degrees, 3);
  EXPECT_LT(result.median_angle_degrees, 20);
}

TEST_P(CalibratedOnDevice, UndoesDistortion) {
  const IntrinsicsPair cameras{{1000, 1000, 640, 480, -0.2, 0.05},
                               {1200, 1180, 600, 500, 0.1, 0, 0.001, -0.002}};
  const Views views = make_views(11, 300, 0.2, 0.3, Motion::any, false, cameras);
  EssentialEstimator estimator(context);
  const EssentialResult right = estimator.estimate(views.matches, cameras);
  EXPECT_LT(translation_error(right.t, views.scene), 1);
  const EssentialResult wrong = estimator.estimate(views.matches, kCameras);
  EXPECT_LT(wrong.inlier_count, right.inlier_count / 2);
}

TEST_P(CalibratedOnDevice, FindsAFocalLengthThatBothViewsShare) {
  EssentialEstimator estimator(context, {.shared_focal = true});
  std::vector<double> errors;
  for (int i = 0; i < 12; ++i) {
    SCOPED_TRACE(i);
    const Views views = make_views(200 + i, 400, 0.3, 0.1 * (i % 6));
    const double factor = std::exp2(0.25 * (i - 6));
    const EssentialResult result =
        estimator.estimate(views.matches, kCameras.refocused(1 / factor), i);
    ASSERT_EQ(result.kind, TwoView::general);
    EXPECT_GT(result.inlier_count, 0.9 * std::count(views.right.begin(), views.right.end(), 1));
    errors.push_back(std::abs(result.focal_factor / factor - 1));
    if (errors.back() > 0.02) continue;  // poses that hardly determine the focal length
    EXPECT_LT(rotation_error(result.R, views.scene), 1);
    EXPECT_LT(translation_error(result.t, views.scene), 5);
    int near = 0, all = 0;
    for (std::size_t k = 0; k < views.matches.size(); ++k) {
      if (!result.inliers[k] || !views.right[k]) continue;
      const auto& p = result.points[k];
      const auto& q = views.scene.points[k];
      near += std::hypot(p[0] - q.x, p[1] - q.y, p[2] - q.z) < 0.2 * q.z;
      ++all;
    }
    EXPECT_GT(near, 0.9 * all);
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.005);
  EXPECT_LT(errors[errors.size() - 2], 0.05);
  const IntrinsicsPair bent{{1000, 1000, 640, 480, -0.2}, kSecond};
  EXPECT_THROW(estimator.estimate(make_views(1, 50, 0, 0).matches, bent), Error);
  const Views few = make_views(3, 5, 0, 0);
  EXPECT_EQ(estimator.estimate(few.matches, kCameras).kind, TwoView::too_few_points);
}

TEST_P(CalibratedOnDevice, RecognisesACameraThatOnlyRotated) {
  const Views views = make_views(21, 300, 0.5, 0.3, Motion::none);
  const EssentialResult result = EssentialEstimator(context).estimate(views.matches, kCameras);
  EXPECT_TRUE(result.pure_rotation);
  EXPECT_EQ(result.kind, TwoView::planar);
  EXPECT_LT(rotation_error(result.R, views.scene), 0.1);
  EXPECT_EQ(result.median_angle_degrees, 0);
}

TEST_P(CalibratedOnDevice, FindsHomographiesOfPlanes) {
  HomographyEstimator estimator(context);
  for (int i = 0; i < 12; ++i) {
    SCOPED_TRACE(i);
    const Views views = make_views(40 + i, 200, 0.5, 0.15 * (i % 5), Motion::any, true);
    const Views exact = make_views(40 + i, 200, 0, 0, Motion::any, true);
    const HomographyResult result = estimator.estimate(views.matches, i);
    ASSERT_EQ(result.kind, TwoView::planar);
    std::vector<double> distances;
    for (const Correspondence& m : exact.matches) {
      distances.push_back(transfer_distance(result.H, m));
    }
    std::sort(distances.begin(), distances.end());
    EXPECT_LT(distances[distances.size() / 2], 0.9);
  }
  const Views apart = make_views(1, 200, 0.3, 0.2);
  EXPECT_LT(estimator.estimate(apart.matches).inlier_count, 60);
}

// Among thousands of random points, some agree with an E or an H.
TEST_P(CalibratedOnDevice, FindsNothingInThousandsOfRandomPoints) {
  Random random(23);
  std::vector<Correspondence> chance(4000);
  for (Correspondence& m : chance) {
    m = {float(random.uniform(0, 1280)), float(random.uniform(0, 960)),
         float(random.uniform(0, 1280)), float(random.uniform(0, 960))};
  }
  EXPECT_EQ(EssentialEstimator(context, {.max_hypotheses = 3000}).estimate(chance, kCameras).kind,
            TwoView::none);
  for (const double threshold : {6.0, 60.0}) {  // within 60 pixels dozens agree
    const HomographyOptions options{.threshold = threshold, .max_hypotheses = 3000};
    EXPECT_EQ(HomographyEstimator(context, options).estimate(chance).kind, TwoView::none);
  }
}

TEST_P(CalibratedOnDevice, HandlesFewAndWrongPoints) {
  EssentialEstimator essential(context);
  HomographyEstimator homography(context);
  TwoViewEstimator both(context);
  for (int count : {0, 1, 3, 4, 5, 6, 7, 8, 9, 12}) {
    SCOPED_TRACE(count);
    const Views views = make_views(70 + count, count, 0.1, 0);
    EXPECT_EQ(essential.estimate(views.matches, kCameras).inliers.size(), std::size_t(count));
    EXPECT_EQ(homography.estimate(views.matches).inliers.size(), std::size_t(count));
    EXPECT_EQ(both.estimate(views.matches, kCameras).inliers.size(), std::size_t(count));
  }
  // No model can have 8 inliers, so that one round of samples is enough.
  for (int count : {4, 5, 6, 7}) {
    Random wrong(80 + count);
    std::vector<Correspondence> few;
    auto v = [&] { return float(wrong.uniform(0, 1000)); };
    for (int i = 0; i < count; ++i) few.push_back({v(), v(), v(), v()});
    for (const int round : {1, 256}) {
      const auto h = HomographyEstimator(context, {.round = round}).estimate(few);
      EXPECT_EQ(h.hypotheses, round) << count;
      if (count < 5) continue;
      const auto e = EssentialEstimator(context, {.round = round}).estimate(few, kCameras);
      EXPECT_EQ(e.hypotheses, round) << count;
      EXPECT_TRUE(e.converged());
    }
  }
  const std::vector<Correspondence> same(50, {1, 2, 3, 4});
  EXPECT_EQ(essential.estimate(same, kCameras).kind, TwoView::too_few_points);
  std::vector<Correspondence> line;
  for (int i = 0; i < 60; ++i) line.push_back({float(i), float(i), float(2 * i), float(i)});
  EXPECT_EQ(homography.estimate(line).kind, TwoView::degenerate);
  EXPECT_EQ(homography.estimate(line).inlier_count, 0);
  // Points of a scene that lie on a line in the first image, up to the noise.
  Random random(4);
  Views row = make_views(71, 20000, 0.2, 0);
  std::erase_if(row.matches,
                [](const Correspondence& m) { return std::abs(m.y1 - 400 - 0.2f * m.x1) > 1; });
  ASSERT_GT(row.matches.size(), 8u);
  std::vector<Correspondence> wobbly;
  for (int i = 0; i < 60; ++i) {
    auto near = [&](float v) { return v + 0.2f * float(random.normal()); };
    wobbly.push_back({near(20.0f * i), near(3.0f * i), near(18.0f * i + 40), near(90 + 2.0f * i)});
  }
  for (const auto& points : {row.matches, wobbly}) {
    EXPECT_EQ(essential.estimate(points, kCameras).kind, TwoView::degenerate);
    EXPECT_EQ(homography.estimate(points).inlier_count, 0);
    EXPECT_EQ(both.estimate(points, kCameras).configuration, Configuration::degenerate);
  }
  EXPECT_THROW(essential.estimate(line, {{0, 1, 0, 0}, kSecond}), Error);
  const IntrinsicsPair bad = {kFirst, {0, 1, 0, 0}};
  const std::vector<std::span<const Correspondence>> pairs(2, line);
  const std::vector<std::optional<IntrinsicsPair>> cameras = {kCameras, bad};
  std::vector<TwoViewResult> results(2);
  const std::uint64_t keys[] = {1, 2};
  try {
    both.estimate_batch(pairs, cameras, keys, results);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("pair 1, second camera: fx is 0"), 0u) << error.what();
  }
  EXPECT_THROW(EssentialEstimator(context, {.threshold = -1}), Error);
  EXPECT_THROW(HomographyEstimator(context, {.confidence = 1}), Error);
  EXPECT_THROW(TwoViewEstimator(context, {.essential_share = 0}), Error);
}

// A model of points on a line has wrong matches as inliers, which a least-squares line would
// follow.
TEST_P(CalibratedOnDevice, PointsOnALineDetermineNothing) {
  Random random(4);
  auto near = [&](double v) { return float(v + 0.2 * random.normal()); };
  auto with_wrong = [&](std::vector<Correspondence> matches, int wrong) {
    for (int i = 0; i < wrong; ++i) {
      matches.push_back({float(random.uniform(0, 1280)), float(random.uniform(0, 960)),
                         float(random.uniform(0, 1280)), float(random.uniform(0, 960))});
    }
    return matches;
  };
  std::vector<Correspondence> lengthwise, crosswise, pole;
  for (int i = 0; i < 60; ++i) {
    lengthwise.push_back({near(20 * i), near(3 * i), near(18 * i + 40), near(90 + 2 * i)});
    crosswise.push_back({near(600 + 1.3 * i), near(480), near(640 + 1.2 * i), near(500)});
    // A rotation by 2.9 degrees would move a pole like this, and so does a translation.
    pole.push_back({near(640), near(60 + 14 * i), near(590), near(60 + 14 * i)});
  }
  for (const auto& points : {lengthwise, crosswise, pole}) {
    for (const int wrong : {0, 2, 40}) {
      SCOPED_TRACE(wrong);
      const std::vector<Correspondence> matches = with_wrong(points, wrong);
      EXPECT_EQ(EssentialEstimator(context).estimate(matches, kCameras).kind, TwoView::degenerate);
      EXPECT_EQ(HomographyEstimator(context).estimate(matches).kind, TwoView::degenerate);
      EXPECT_EQ(FundamentalEstimator(context).estimate(matches).kind, TwoView::degenerate);
      const auto both = TwoViewEstimator(context).estimate(matches, kCameras);
      EXPECT_EQ(both.configuration, Configuration::degenerate);
    }
    // Among hundreds of wrong matches there may be nothing to find, but no geometry either.
    const std::vector<Correspondence> matches = with_wrong(points, 400);
    EXPECT_EQ(EssentialEstimator(context).estimate(matches, kCameras).inlier_count, 0);
    EXPECT_EQ(HomographyEstimator(context).estimate(matches).inlier_count, 0);
    EXPECT_EQ(FundamentalEstimator(context).estimate(matches).inlier_count, 0);
  }
  // A dozen points beside a line determine everything, however many are on it.
  Views views = make_views(73, 12, 0.2, 0);
  Views row = make_views(73, 40000, 0.2, 0);
  std::erase_if(row.matches, [](const Correspondence& m) { return std::abs(m.y1 - 400) > 1.5f; });
  ASSERT_GT(row.matches.size(), 60u);
  views.matches.insert(views.matches.end(), row.matches.begin(), row.matches.end());
  EXPECT_EQ(EssentialEstimator(context).estimate(views.matches, kCameras).kind, TwoView::general);
}

TEST_P(CalibratedOnDevice, CountsRepeatedCorrespondencesOnce) {
  Views views = make_views(81, 100, 0.3, 0.2);
  const EssentialResult once = EssentialEstimator(context).estimate(views.matches, kCameras);
  std::vector<Correspondence> twice = views.matches;
  twice.insert(twice.end(), views.matches.begin(), views.matches.end());
  const EssentialResult result = EssentialEstimator(context).estimate(twice, kCameras);
  EXPECT_EQ(result.E, once.E);
  EXPECT_EQ(result.inlier_count, once.inlier_count);
  ASSERT_EQ(result.points.size(), 200u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(result.points[i], once.points[i]);
    EXPECT_EQ(result.points[i + 100], once.points[i]);
    EXPECT_EQ(result.inliers[i + 100], once.inliers[i]);
  }
  const auto none = std::count(once.points.begin(), once.points.end(), std::array<float, 3>{});
  EXPECT_EQ(once.in_front_count, 100 - none);
  EXPECT_EQ(result.in_front_count, once.in_front_count);
}

// Four of five points are so far away that their noise decides on which side of a camera they lie.
TEST_P(CalibratedOnDevice, PointsWithParallaxDecideTheDirectionOfTheTranslation) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Views views;
    views.scene.rotation = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    views.scene.translation = {1, 0, 0};
    Random random(seed);
    const auto noise = [&] { return random.uniform(-0.3, 0.3); };
    for (int i = 0; i < 300; ++i) {
      const double x = random.uniform(-0.6, 0.6), y = random.uniform(-0.4, 0.4);
      const double inverse_depth = i % 5 == 0 ? random.uniform(0.05, 0.3) : 1e-6;
      const auto a = kFirst.pixel(x, y), b = kFirst.pixel(x + inverse_depth, y);
      views.matches.push_back({float(a[0] + noise()), float(a[1] + noise()), float(b[0] + noise()),
                               float(b[1] + noise())});
    }
    const EssentialResult result =
        EssentialEstimator(context).estimate(views.matches, {kFirst, kFirst});
    EXPECT_LT(translation_error(result.t, views.scene), 1) << "seed " << seed;
    EXPECT_GE(result.parallax_in_front, 55) << "seed " << seed;
    EXPECT_FALSE(result.leaves_points_behind()) << "seed " << seed;
    for (int i = 0; i < 300; i += 5) {
      EXPECT_GT(result.points[i][2], 2) << "seed " << seed << ", point " << i;
    }
  }
}

// Moves each point along its ray by a fraction of its depth.
void add_relief(Views& views, double relief, double noise) {
  core::Random random(77);
  for (std::size_t k = 0; k < views.matches.size(); ++k) {
    if (!views.right[k]) continue;
    const auto p = geometry::scaled(views.scene.points[k], 1 + relief * random.normal());
    const auto q = geometry::sum(views.scene.rotation * p, views.scene.translation);
    const auto b = kCameras.second.pixel(q.x / q.z, q.y / q.z);
    views.matches[k].x2 = float(b[0] + noise * random.normal());
    views.matches[k].y2 = float(b[1] + noise * random.normal());
  }
}

TEST_P(CalibratedOnDevice, PosesOfPlanesThatMayBeWrongAreMarked) {
  EssentialEstimator estimator(context);
  const auto is_marked = [](const EssentialResult& result) {
    return result.second_pose || result.leaves_points_behind();
  };
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Views views = make_views(seed, 200, 0.3, 0.3, Motion::any, true);
    EssentialResult result = estimator.estimate(views.matches, kCameras);
    ASSERT_EQ(result.kind, TwoView::general);
    if (translation_error(result.t, views.scene) > 10) {
      ++wrong;
      EXPECT_TRUE(is_marked(result));
    }
    // A relief of a few percent of the depth decides which pose is right.
    add_relief(views, 0.05, 0.3);
    result = estimator.estimate(views.matches, kCameras);
    EXPECT_FALSE(is_marked(result));
    EXPECT_LT(translation_error(result.t, views.scene), 10);
    EXPECT_FALSE(is_marked(estimator.estimate(make_views(seed, 200, 0.3, 0.3).matches, kCameras)));
  }
  EXPECT_GE(wrong, 20);
}

TEST(EssentialResult, LeavesPointsBehindIfOverAQuarterOfThoseWithParallaxDo) {
  EssentialResult result;
  result.kind = TwoView::general;
  result.inlier_count = 20;
  result.parallax_in_front = 9;
  result.parallax_behind = 3;
  EXPECT_FALSE(result.leaves_points_behind());
  result.parallax_in_front = 8;
  EXPECT_TRUE(result.leaves_points_behind());
  result.kind = TwoView::planar;  // a rotation has no points
  EXPECT_FALSE(result.leaves_points_behind());
}

}  // namespace
}  // namespace cornea
