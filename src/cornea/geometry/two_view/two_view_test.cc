// SPDX-License-Identifier: Apache-2.0
// The choice between E, F and H on generated scenes, on every device.
#include "cornea/geometry/two_view/two_view.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "cornea/geometry/two_view/calibrated_testing.h"
#include "cornea/geometry/two_view/relative_pose.h"

namespace cornea {
namespace {

using namespace core;
using namespace cornea::testing;

class TwoViewOnDevice : public testing::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(, TwoViewOnDevice, testing::every_device(), testing::device_name);

TEST_P(TwoViewOnDevice, CorrectsGuessedFocalLengths) {
  TwoViewEstimator estimator(context);
  int kept = 0, corrected = 0;
  for (int i = 0; i < 10; ++i) {
    SCOPED_TRACE(i);
    const Views views = make_views(300 + i, 500, 0.3, 0.3);
    IntrinsicsPair cameras = kCameras;
    cameras.focal_known = false;
    kept += estimator.estimate(views.matches, cameras).essential.focal_factor == 1;
    IntrinsicsPair wrong = cameras.refocused(1.05);
    const TwoViewResult result = estimator.estimate(views.matches, wrong);
    EXPECT_EQ(result.configuration, Configuration::calibrated);
    if (result.essential.focal_factor == 1) continue;
    ++corrected;
    EXPECT_NEAR(result.essential.focal_factor, 1 / 1.05, 0.03);
    EXPECT_LT(translation_error(result.t, views.scene), 2);
    wrong.focal_known = true;
    EXPECT_EQ(estimator.estimate(views.matches, wrong).essential.focal_factor, 1);
  }
  EXPECT_GE(kept, 9);
  EXPECT_GE(corrected, 8);
}

TEST_P(TwoViewOnDevice, ChoosesTheModelByColmapsRule) {
  TwoViewEstimator estimator(context);
  const Views general = make_views(61, 400, 0.5, 0.3);
  TwoViewResult result = estimator.estimate(general.matches, kCameras);
  EXPECT_EQ(result.configuration, Configuration::calibrated);
  EXPECT_LT(translation_error(result.t, general.scene), 1.5);
  EXPECT_GE(result.compared_essential, 0.95 * result.compared_fundamental);
  EXPECT_GE(result.compared_essential, 0.9 * result.inlier_count);
  EXPECT_GE(result.compared_fundamental, result.fundamental.inlier_count);
  // F and E agree with each other, in pixels.
  int agree = 0;
  for (std::size_t k = 0; k < general.matches.size(); ++k) {
    agree += result.inliers[k] &&
             epipolar_distance(result.F, general.matches[k]) < result.essential.threshold + 1e-3;
  }
  EXPECT_GE(agree, 0.98 * result.inlier_count);
  EXPECT_EQ(estimator.estimate(general.matches, std::nullopt).configuration,
            Configuration::uncalibrated);
  // With focal lengths that are far off, F is chosen.
  const IntrinsicsPair wrong{{2200, 2200, 640, 480}, {600, 600, 600, 500}};
  result = estimator.estimate(general.matches, wrong);
  EXPECT_EQ(result.configuration, Configuration::uncalibrated);
  EXPECT_LT(result.compared_essential, 0.95 * result.compared_fundamental);
  EXPECT_EQ(result.R, (std::array<double, 9>{}));
  const Views plane = make_views(62, 400, 0.5, 0.3, Motion::any, true);
  result = estimator.estimate(plane.matches, kCameras);
  EXPECT_EQ(result.configuration, Configuration::planar);
  EXPECT_EQ(estimator.estimate(plane.matches, std::nullopt).configuration,
            Configuration::planar_or_panoramic);
  const Views turned = make_views(63, 400, 0.5, 0.3, Motion::none);
  result = estimator.estimate(turned.matches, kCameras);
  EXPECT_EQ(result.configuration, Configuration::panoramic);
  EXPECT_LT(rotation_error(result.R, turned.scene), 0.1);
  Random random(9);
  std::vector<Correspondence> chance(200);
  for (Correspondence& m : chance) {
    m = {float(random.uniform(0, 1280)), float(random.uniform(0, 960)),
         float(random.uniform(0, 1280)), float(random.uniform(0, 960))};
  }
  result = estimator.estimate(chance, kCameras);
  EXPECT_EQ(result.configuration, Configuration::undefined);
  EXPECT_EQ(result.inlier_count, 0);
}

// The inliers of a plane are H's if these are more than E's; wrong matches on epipolar lines are
// inliers of E alone.
TEST_P(TwoViewOnDevice, PointsBelongToTheInliersOfTheChosenModel) {
  TwoViewEstimator estimator(context);
  int of_homography = 0, only_of_essential = 0;
  for (int i = 0; i < 10; ++i) {
    const Views plane = make_views(400 + i, 800, 1, 0.5, Motion::any, true);
    const TwoViewResult result = estimator.estimate(plane.matches, kCameras);
    if (result.configuration != Configuration::planar) continue;
    of_homography += result.inliers != result.essential.inliers;
    ASSERT_EQ(result.points.size(), plane.matches.size());
    for (std::size_t k = 0; k < plane.matches.size(); ++k) {
      if (result.inliers[k]) continue;
      only_of_essential += result.essential.points[k] != std::array<float, 3>{};
      EXPECT_EQ(result.points[k], (std::array<float, 3>{})) << i << ", " << k;
    }
  }
  EXPECT_GT(of_homography, 0);
  EXPECT_GT(only_of_essential, 0);
}

TEST_P(TwoViewOnDevice, AGivenThresholdDecidesWhichPointsLieOnAPlane) {
  const Views plane = make_views(62, 400, 0.5, 0.3, Motion::any, true);
  TwoViewOptions options;
  options.fundamental.threshold = options.essential.threshold = 4;
  options.homography.threshold = 8;
  EXPECT_EQ(TwoViewEstimator(context, options).estimate(plane.matches, kCameras).configuration,
            Configuration::planar);
  options.homography.threshold = 0.6;  // for points with noise of 0.5 pixels in each coordinate
  EXPECT_EQ(TwoViewEstimator(context, options).estimate(plane.matches, kCameras).configuration,
            Configuration::calibrated);
}

// F follows the distortion of a lens only within a wide threshold; E's inliers need none.
TEST_P(TwoViewOnDevice, InliersOfEHaveTheirOwnThresholdAndPoints) {
  const Intrinsics bent{1000, 1000, 640, 480, -0.15};
  const IntrinsicsPair cameras{bent, bent};
  const Views views = make_views(66, 400, 0.2, 0.3, Motion::any, false, cameras);
  const TwoViewResult result = TwoViewEstimator(context).estimate(views.matches, cameras);
  ASSERT_EQ(result.configuration, Configuration::calibrated);
  EXPECT_GT(result.fundamental.threshold, result.essential.threshold);
  EXPECT_EQ(result.inliers, result.essential.inliers);
  EXPECT_EQ(result.inlier_count, result.essential.inlier_count);
  for (std::size_t i = 0; i < views.matches.size(); ++i) {
    if (!result.inliers[i]) {
      EXPECT_EQ(result.points[i], (std::array<float, 3>{})) << i;
    }
  }
}

// At a given threshold, H is compared with E as in COLMAP: the distance between points, not its
// double.
TEST_P(TwoViewOnDevice, DepthBeyondAGivenThresholdIsNoPlane) {
  TwoViewOptions options;
  options.configuration_threshold = 11.3;
  options.fundamental.threshold = options.essential.threshold = 60;
  options.homography.threshold = 120;
  const Views views = make_views(67, 400, 0.3, 0.2, Motion::sideways);
  const TwoViewResult result = TwoViewEstimator(context, options).estimate(views.matches, kCameras);
  EXPECT_EQ(result.configuration, Configuration::calibrated);
  EXPECT_FALSE(result.essential.pure_rotation);
  // At a threshold that is hardly wider than the noise, a plane is still called planar.
  options.fundamental.threshold = options.essential.threshold = 3;
  options.homography.threshold = 6;
  const Views plane = make_views(62, 400, 0.5, 0.3, Motion::any, true);
  EXPECT_EQ(TwoViewEstimator(context, options).estimate(plane.matches, kCameras).configuration,
            Configuration::planar);
}

// Points beyond the fold of a lens have no ray, so they are inliers of no model.
TEST_P(TwoViewOnDevice, PointsWithoutARayAreNotInliers) {
  const Intrinsics bent{1000, 1000, 640, 480, -0.3};  // folds at r = 1.05, pixel 640 + 703
  const IntrinsicsPair cameras{bent, bent};
  Views views = make_views(64, 300, 0.2, 0, Motion::any, false, cameras);
  // Further matches, which would lie on their epipolar lines if their pixels had no distortion.
  const auto F = TwoViewEstimator(context).estimate(views.matches, cameras).F;
  for (int i = 0; i < 30; ++i) {
    const double x = 1500, y = 400 + 5.0 * i, x2 = 1480;
    const double a = F[0] * x + F[1] * y + F[2], b = F[3] * x + F[4] * y + F[5],
                 c = F[6] * x + F[7] * y + F[8];
    views.matches.push_back({float(x), float(y), float(x2), float(-(a * x2 + c) / b)});
  }
  const TwoViewResult result = TwoViewEstimator(context).estimate(views.matches, cameras);
  ASSERT_EQ(result.configuration, Configuration::calibrated);
  EXPECT_GT(result.inlier_count, 270);
  for (std::size_t i = 300; i < views.matches.size(); ++i) {
    EXPECT_FALSE(undistorted(cameras, views.matches[i]).has_value());
    EXPECT_FALSE(result.inliers[i]) << i;
  }
}

// No intrinsics, known ones, and guesses that are wrong by a tenth.
std::optional<IntrinsicsPair> cameras_of_set(std::size_t i) {
  if (i % 5 == 4) return std::nullopt;
  if (i % 3 != 2) return kCameras;
  IntrinsicsPair guess = kCameras.refocused(1.1);
  guess.focal_known = false;
  return guess;
}

// Results that a batch and another device must reproduce bit by bit.
std::vector<TwoViewResult> estimate_all(const Context& context, std::span<const Views> sets) {
  std::vector<std::span<const Correspondence>> pairs;
  std::vector<std::optional<IntrinsicsPair>> cameras;
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    pairs.push_back(sets[i].matches);
    cameras.push_back(cameras_of_set(i));
    keys.push_back(100 + 7 * i);
  }
  std::vector<TwoViewResult> out(sets.size());
  TwoViewEstimator(context).estimate_batch(pairs, cameras, keys, out);
  return out;
}

void expect_equal(const TwoViewResult& a, const TwoViewResult& b) {
  EXPECT_EQ(a.configuration, b.configuration);
  EXPECT_EQ(a.E, b.E);
  EXPECT_EQ(a.F, b.F);
  EXPECT_EQ(a.H, b.H);
  EXPECT_EQ(a.R, b.R);
  EXPECT_EQ(a.t, b.t);
  EXPECT_EQ(a.inliers, b.inliers);
  EXPECT_EQ(a.points, b.points);
  EXPECT_EQ(a.median_angle_degrees, b.median_angle_degrees);
  EXPECT_EQ(a.fundamental.F, b.fundamental.F);
  EXPECT_EQ(a.fundamental.hypotheses, b.fundamental.hypotheses);
  EXPECT_EQ(a.fundamental.threshold, b.fundamental.threshold);
  EXPECT_EQ(a.essential.E, b.essential.E);
  EXPECT_EQ(a.essential.focal_factor, b.essential.focal_factor);
  EXPECT_EQ(a.essential.hypotheses, b.essential.hypotheses);
  EXPECT_EQ(a.essential.threshold, b.essential.threshold);
  EXPECT_EQ(a.homography.H, b.homography.H);
  EXPECT_EQ(a.homography.hypotheses, b.homography.hypotheses);
  EXPECT_EQ(a.homography.threshold, b.homography.threshold);
}

std::vector<Views> mixed_sets() {
  std::vector<Views> sets;
  for (int i = 0; i < 40; ++i) {
    const Motion motion = std::array{Motion::any, Motion::forward, Motion::sideways, Motion::any,
                                     Motion::none}[i % 5];
    sets.push_back(make_views(500 + i, 6 + 23 * i, std::array{0.0, 0.3, 1.0, 2.0}[i % 4],
                              0.1 * (i % 8), motion, i % 7 == 3));
  }
  return sets;
}

TEST_P(TwoViewOnDevice, GivesTheSameBytesForEveryBatchAndThreadCount) {
  const std::vector<Views> sets = mixed_sets();
  const std::vector<TwoViewResult> batch = estimate_all(context, sets);
  TwoViewEstimator estimator(context);
  for (std::size_t i = 0; i < sets.size(); i += 2) {
    SCOPED_TRACE(i);
    expect_equal(batch[i], estimator.estimate(sets[i].matches, cameras_of_set(i), 100 + 7 * i));
  }
  if (context.is_cuda()) return;
  const std::vector<TwoViewResult> other = estimate_all(Context::cpu(3), sets);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    SCOPED_TRACE(i);
    expect_equal(batch[i], other[i]);
  }
}

TEST(TwoViewDevices, GiveTheSameBits) {
  if (testing::devices().size() < 2) GTEST_SKIP() << "there is no second device here";
  const std::vector<Views> sets = mixed_sets();
  const std::vector<TwoViewResult> host = estimate_all(Context::cpu(), sets);
  const std::vector<TwoViewResult> device = estimate_all(Context::cuda(), sets);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    SCOPED_TRACE(i);
    expect_equal(host[i], device[i]);
  }
}

}  // namespace
}  // namespace cornea
