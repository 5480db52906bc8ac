// SPDX-License-Identifier: Apache-2.0
// E, H and the choice between them on generated scenes, on every device.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/geometry/pose/calibrated_scene_testing.h"
#include "cornea/geometry/two_view/relative_pose.h"
#include "cornea/geometry/two_view/two_view.h"

namespace cornea {
namespace {

using namespace core;
using geometry::Matrix3;
using geometry::testing::CalibratedScene;
using geometry::testing::Motion;

constexpr Intrinsics kFirst{1000, 1000, 640, 480}, kSecond{1200, 1180, 600, 500};
constexpr IntrinsicsPair kCameras{kFirst, kSecond};

struct Views {
  CalibratedScene scene;
  std::vector<Correspondence> matches;
  std::vector<std::uint8_t> right;
};

Views make_views(std::uint64_t seed, int count, double noise, double outliers,
                 Motion motion = Motion::any, bool plane = false,
                 const IntrinsicsPair& cameras = kCameras) {
  Random random(seed, 5);
  Views views;
  views.scene = geometry::testing::calibrated_scene(random, count, motion, plane);
  for (const geometry::PointPair& p : views.scene.rays) {
    const auto a = cameras.first.pixel(p.x1, p.y1), b = cameras.second.pixel(p.x2, p.y2);
    Correspondence m{float(a[0] + noise * random.normal()), float(a[1] + noise * random.normal()),
                     float(b[0] + noise * random.normal()), float(b[1] + noise * random.normal())};
    const bool wrong = random.uniform() < outliers;
    if (wrong) m.x2 = float(random.uniform(0, 1280)), m.y2 = float(random.uniform(0, 960));
    views.matches.push_back(m);
    views.right.push_back(!wrong);
  }
  return views;
}

Matrix3<double> matrix(const std::array<double, 9>& m) {
  Matrix3<double> result;
  std::copy(m.begin(), m.end(), result.v);
  return result;
}
double degrees(double radians) { return radians * 180 / std::numbers::pi; }
double rotation_error(const std::array<double, 9>& R, const CalibratedScene& scene) {
  return degrees(geometry::testing::angle_between(matrix(R), scene.rotation));
}
double translation_error(const std::array<double, 3>& t, const CalibratedScene& scene) {
  const auto& s = scene.translation;
  const double dot = t[0] * s.x + t[1] * s.y + t[2] * s.z;
  return degrees(std::acos(std::clamp(dot, -1.0, 1.0)));
}

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

TEST_P(CalibratedOnDevice, CorrectsGuessedFocalLengths) {
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

TEST_P(CalibratedOnDevice, ChoosesTheModelByColmapsRule) {
  TwoViewEstimator estimator(context);
  const Views general = make_views(61, 400, 0.5, 0.3);
  TwoViewResult result = estimator.estimate(general.matches, kCameras);
  EXPECT_EQ(result.configuration, Configuration::calibrated);
  EXPECT_LT(translation_error(result.t, general.scene), 1.5);
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

TEST_P(CalibratedOnDevice, AGivenThresholdDecidesWhichPointsLieOnAPlane) {
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

// F follows the distortion of a lens only within a wide threshold; E's inliers need none.
TEST_P(CalibratedOnDevice, InliersOfEHaveTheirOwnThresholdAndPoints) {
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
TEST_P(CalibratedOnDevice, DepthBeyondAGivenThresholdIsNoPlane) {
  TwoViewOptions options;
  options.configuration_threshold = 11.3;
  options.fundamental.threshold = options.essential.threshold = 60;
  options.homography.threshold = 120;
  const Views views = make_views(67, 400, 0.3, 0.2, Motion::sideways);
  const TwoViewResult result = TwoViewEstimator(context, options).estimate(views.matches, kCameras);
  EXPECT_EQ(result.configuration, Configuration::calibrated);
  EXPECT_FALSE(result.essential.pure_rotation);
  // A threshold that is hardly wider than the noise leaves a plane a plane.
  options.fundamental.threshold = options.essential.threshold = 3;
  options.homography.threshold = 6;
  const Views plane = make_views(62, 400, 0.5, 0.3, Motion::any, true);
  EXPECT_EQ(TwoViewEstimator(context, options).estimate(plane.matches, kCameras).configuration,
            Configuration::planar);
}

// Points beyond the fold of a lens have no ray, so they are inliers of no model.
TEST_P(CalibratedOnDevice, PointsWithoutARayAreNotInliers) {
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
  EXPECT_THROW(EssentialEstimator(context, {.threshold = -1}), Error);
  EXPECT_THROW(HomographyEstimator(context, {.confidence = 1}), Error);
  EXPECT_THROW(TwoViewEstimator(context, {.essential_share = 0}), Error);
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

TEST_P(CalibratedOnDevice, GivesTheSameBytesForEveryBatchAndThreadCount) {
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

TEST(CalibratedDevices, GiveTheSameBits) {
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
