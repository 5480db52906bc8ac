// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/pair.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/io/file_testing.h"
#include "cornea/scene/scene.h"

namespace cornea {
namespace {

struct Views {
  std::vector<View> views;
  std::array<double, 9> F{};  // ground truth
};

// Rendered once, because the ray caster takes longer than the tests.
const Views& views_of(SceneKind kind) {
  static std::map<SceneKind, Views> made;
  Views& v = made[kind];
  if (v.views.empty()) {
    v.views = make_views(Context::cpu(), {.kind = kind, .width = 640, .height = 480, .samples = 3});
    const Eigen::Matrix3d F = fundamental(v.views[0].camera, v.views[1].camera);
    for (int i = 0; i < 9; ++i) v.F[std::size_t(i)] = F(i / 3, i % 3);
  }
  return v;
}

double median_to_truth(const PairResult& r, const std::array<double, 9>& truth) {
  std::vector<double> distances;
  for (std::size_t i = 0; i < r.matches.size(); ++i) {
    if (r.geometry.inliers[i]) {
      distances.push_back(epipolar_distance(truth, r.correspondence(i)));
    }
  }
  if (distances.empty()) return 1e9;
  std::sort(distances.begin(), distances.end());
  return distances[distances.size() / 2];
}

class Pair : public testing::OnEveryDevice {};

TEST_P(Pair, FindsTheTrueGeometryOfASceneWithDepth) {
  const Views& v = views_of(SceneKind::boxes);
  const PairResult r = PairPipeline(context).run(v.views[0].image, v.views[1].image);
  EXPECT_EQ(name(r.geometry.kind), name(TwoView::general));
  EXPECT_GT(r.first.size(), 800u);
  EXPECT_GT(r.second.size(), 800u);
  EXPECT_GT(r.matches.size(), 400u);
  EXPECT_GT(r.geometry.inlier_count, 0.8 * double(r.matches.size()));
  EXPECT_LT(median_to_truth(r, v.F), 0.5);
  ASSERT_EQ(r.geometry.inliers.size(), r.matches.size());
  EXPECT_EQ(std::count(r.geometry.inliers.begin(), r.geometry.inliers.end(), 1),
            r.geometry.inlier_count);
}

IntrinsicsPair cameras_of(const Views& v, double focal_factor = 1) {
  const auto intrinsics = [&](const Camera& c) {
    return Intrinsics{focal_factor * c.K(0, 0), focal_factor * c.K(1, 1), c.K(0, 2), c.K(1, 2)};
  };
  return {intrinsics(v.views[0].camera), intrinsics(v.views[1].camera)};
}

TEST_P(Pair, KnownCamerasGiveThePose) {
  const Views& v = views_of(SceneKind::boxes);
  PairPipeline pipeline(context);
  PairResult r, plain;
  pipeline.run(v.views[0].image, v.views[1].image, {}, plain);
  EXPECT_FALSE(plain.two_view || plain.by_essential);
  pipeline.run(v.views[0].image, v.views[1].image, {}, cameras_of(v), r);
  ASSERT_TRUE(r.two_view);
  ASSERT_TRUE(r.by_essential);
  const Camera &a = v.views[0].camera, &b = v.views[1].camera;
  const Eigen::Matrix3d R = b.R * a.R.transpose();
  const Eigen::Vector3d t = (b.t - R * a.t).normalized();
  const EssentialResult& e = r.two_view->essential;
  double trace = 0, dot = 0;
  for (int i = 0; i < 9; ++i) trace += R(i / 3, i % 3) * e.R[std::size_t(i)];
  for (int i = 0; i < 3; ++i) dot += t(i) * e.t[std::size_t(i)];
  EXPECT_GT(trace, 3 - 1e-4);  // the rotation error is below half a degree
  EXPECT_GT(dot, 0.9995);      // the direction of t differs by less than two degrees
  EXPECT_EQ(r.geometry.inliers, e.inliers);
  EXPECT_LT(median_to_truth(r, v.F), 0.5);
  ASSERT_EQ(r.distances.size(), r.matches.size());
  EXPECT_EQ(r.threshold, e.threshold);
  for (std::size_t i = 0; i < r.matches.size(); ++i) {
    if (e.inliers[i]) {
      EXPECT_LT(r.distances[i], 1.01 * r.threshold);
    }
  }
  // A pair with cameras does not influence the next pair without them.
  PairResult again = r;
  pipeline.run(v.views[0].image, v.views[1].image, {}, again);
  EXPECT_FALSE(again.two_view || again.by_essential);
  EXPECT_EQ(again.geometry.F, plain.geometry.F);
}

TEST_P(Pair, WrongFocalLengthsLeaveF) {
  const Views& v = views_of(SceneKind::boxes);
  PairPipeline pipeline(context);
  PairResult r, plain;
  pipeline.run(v.views[0].image, v.views[1].image, {}, plain);
  pipeline.run(v.views[0].image, v.views[1].image, {}, cameras_of(v, 0.25), r);
  EXPECT_FALSE(r.by_essential);
  EXPECT_EQ(r.geometry.F, plain.geometry.F);
  EXPECT_EQ(r.geometry.inliers, plain.geometry.inliers);
  EXPECT_EQ(r.distances, plain.distances);
  IntrinsicsPair bad = cameras_of(v);
  bad.second.fx = -1;
  EXPECT_THROW(pipeline.run(v.views[0].image, v.views[1].image, {}, bad, r), Error);
}

TEST_P(Pair, DistancesAreThoseOfTheResultAndInliersLieBelowTheThreshold) {
  const Views& v = views_of(SceneKind::boxes);
  const PairResult r = PairPipeline(context).run(v.views[0].image, v.views[1].image);
  ASSERT_EQ(r.distances.size(), r.matches.size());
  const double threshold = r.geometry.threshold;
  for (std::size_t i = 0; i < r.matches.size(); ++i) {
    EXPECT_EQ(r.distances[i], float(epipolar_distance(r.geometry.F, r.correspondence(i))));
    if (std::abs(r.distances[i] - threshold) > 1e-3f) {
      EXPECT_EQ(r.geometry.inliers[i] == 1, r.distances[i] < threshold) << i;
    }
  }
}

TEST_P(Pair, EveryDetectorFindsTheGeometry) {
  const Views& v = views_of(SceneKind::boxes);
  for (const DetectorEntry& entry : detector_table()) {
    PairPipeline pipeline(context, {.detector = entry.name, .max_features = 1500});
    const PairResult r = pipeline.run(v.views[0].image, v.views[1].image);
    std::set<std::pair<float, float>> places;
    for (const Keypoint& k : r.first.keypoints) places.insert({k.x, k.y});
    EXPECT_LE(places.size(), 1500u) << entry.name;
    EXPECT_GT(r.geometry.inlier_count, 100) << entry.name;
    EXPECT_LT(median_to_truth(r, v.F), 1) << entry.name;
  }
}

TEST_P(Pair, APlaneIsDistinguishedFromASceneWithDepth) {
  const Views& v = views_of(SceneKind::plane);
  PairOptions options;
  // The letters and bricks repeat, and wrong matches between them mimic depth.
  options.match.ratio = 0.6f;
  const PairResult r = PairPipeline(context, options).run(v.views[0].image, v.views[1].image);
  ASSERT_EQ(name(r.geometry.kind), name(TwoView::planar));
  ASSERT_EQ(r.distances.size(), r.matches.size());
  for (std::size_t i = 0; i < r.matches.size(); ++i) {
    EXPECT_EQ(r.distances[i], float(transfer_distance(r.geometry.H, r.correspondence(i))));
    // Inliers of a plane lie within kPlaneWidth thresholds of it.
    const double limit = kPlaneWidth * r.geometry.threshold;
    if (std::abs(r.distances[i] - limit) > 1e-3) {
      EXPECT_EQ(r.geometry.inliers[i] == 1, r.distances[i] < limit) << i;
    }
  }
}

// The masks keep the left half of the first image and the lower half of the second.
TEST_P(Pair, NoPointLiesWhereAMaskIsBlack) {
  const Views& v = views_of(SceneKind::boxes);
  const int width = v.views[0].image.width(), height = v.views[0].image.height();
  Image<std::uint8_t> left(width, height), low(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      left(x, y) = x < width / 2 ? 255 : 0;
      low(x, y) = y >= height / 2 ? 255 : 0;
    }
  }
  for (const char* detector : {"sift", "harris"}) {
    PairPipeline pipeline(context, {.detector = detector, .max_features = 1500});
    const PairResult whole = pipeline.run(v.views[0].image, v.views[1].image);
    PairResult masked;
    pipeline.run(v.views[0].image, v.views[1].image, {left, low}, masked);
    EXPECT_GT(masked.first.size(), 100u) << detector;
    EXPECT_GT(masked.second.size(), 100u) << detector;
    EXPECT_LT(masked.matches.size(), whole.matches.size()) << detector;
    for (const Keypoint& p : masked.first.keypoints) EXPECT_LT(p.x, float(width / 2) + 1);
    for (const Keypoint& p : masked.second.keypoints) EXPECT_GT(p.y, float(height / 2) - 1);
    // An empty mask masks nothing.
    PairResult again;
    pipeline.run(v.views[0].image, v.views[1].image, {{}, {}}, again);
    EXPECT_EQ(again.matches, whole.matches);
  }
  const Image<std::uint8_t> small(8, 8);
  PairResult none;
  EXPECT_THROW(PairPipeline(context).run(v.views[0].image, v.views[1].image, {small, {}}, none),
               Error);
}

TEST_P(Pair, NothingToMatchIsAResult) {
  Image<std::uint8_t> flat(64, 48);
  std::fill_n(flat.host().data, 64 * 48, std::uint8_t{90});
  const PairResult r = PairPipeline(context).run(flat, flat);
  EXPECT_EQ(r.first.size(), 0u);
  EXPECT_TRUE(r.matches.empty());
  EXPECT_EQ(name(r.geometry.kind), name(TwoView::too_few_points));
  EXPECT_TRUE(r.distances.empty());
  EXPECT_TRUE(r.geometry.inliers.empty());
}

TEST_P(Pair, TheSamePairGivesTheSameBytesWhateverRanBefore) {
  const Views& boxes = views_of(SceneKind::boxes);
  const Views& plane = views_of(SceneKind::plane);
  PairPipeline pipeline(context);
  const PairResult once = pipeline.run(boxes.views[0].image, boxes.views[1].image);
  PairResult again;
  pipeline.run(plane.views[0].image, plane.views[1].image, again);
  pipeline.run(boxes.views[0].image, boxes.views[1].image, again);
  EXPECT_EQ(again.first.keypoints, once.first.keypoints);
  EXPECT_EQ(again.second.descriptors, once.second.descriptors);
  EXPECT_EQ(again.matches, once.matches);
  EXPECT_EQ(again.geometry.F, once.geometry.F);
  EXPECT_EQ(again.geometry.inliers, once.geometry.inliers);
  EXPECT_EQ(again.distances, once.distances);
}

TEST_P(Pair, TimesAreByStageInTheirOrder) {
  const Views& v = views_of(SceneKind::boxes);
  const PairResult r = PairPipeline(context).run(v.views[0].image, v.views[1].image);
  ASSERT_EQ(r.stages.size(), 3u);
  EXPECT_EQ(r.stages[0].stage, "features");
  EXPECT_EQ(r.stages[1].stage, "matching");
  EXPECT_EQ(r.stages[2].stage, "geometry");
  for (const StageTime& s : r.stages) EXPECT_GT(s.milliseconds, 0) << s.stage;
}

INSTANTIATE_TEST_SUITE_P(, Pair, testing::every_device(), testing::device_name);

TEST_P(Pair, ImagesAreUploadedOnceAndResultsDownloadedOnce) {
  const Views& v = views_of(SceneKind::boxes);
  PairPipeline pipeline(context);
  PairResult r;
  pipeline.run(v.views[0].image, v.views[1].image, r);
  const Transfers before = context.transfers();
  pipeline.run(v.views[0].image, v.views[1].image, r);
  const Transfers after = context.transfers();
  if (!context.is_cuda()) {
    EXPECT_EQ(after.uploads, before.uploads);
    EXPECT_EQ(after.downloads, before.downloads);
    return;
  }
  const std::uint64_t pixels = 2ull * v.views[0].image.width() * v.views[0].image.height();
  const std::uint64_t images = pixels * sizeof(float);
  const std::uint64_t features = (r.first.size() + r.second.size()) * (128 + sizeof(Keypoint));
  const std::uint64_t up = after.upload_bytes - before.upload_bytes;
  const std::uint64_t down = after.download_bytes - before.download_bytes;
  // Besides the images, only the coordinates of the matches and a table of the pair are uploaded,
  // no descriptors.
  EXPECT_GE(up, images);
  EXPECT_LE(up, images + r.matches.size() * sizeof(Correspondence) + 4096);
  EXPECT_LE(after.uploads - before.uploads, 4u);
  EXPECT_GE(down, features);
  EXPECT_LE(down, features + r.matches.size() * 32 + 16384);
}

TEST(PairOptions, ReachTheStages) {
  const Views& v = views_of(SceneKind::boxes);
  auto run = [&](const PairOptions& options) {
    return PairPipeline(Context::cpu(), options).run(v.views[0].image, v.views[1].image);
  };
  // The limit counts points; the additional orientations of a point do not count.
  auto points = [&](const PairOptions& options) {
    std::set<std::pair<float, float>> places;
    for (const Keypoint& k : run(options).first.keypoints) places.insert({k.x, k.y});
    return places.size();
  };
  EXPECT_EQ(points({.max_features = 200}), 200u);
  EXPECT_EQ(points({.settings = {{"max-points", "100"}}, .max_features = 200}), 100u);
  EXPECT_EQ(run({.settings = {{"orientations", "1"}}, .max_features = 200}).first.size(), 200u);
  PairOptions strict, tight;
  strict.match.ratio = 0.5;
  tight.fundamental.threshold = 0.3f;
  const PairResult plain = run({});
  EXPECT_LT(run(strict).matches.size(), plain.matches.size());
  EXPECT_LT(run(tight).geometry.inlier_count, plain.geometry.inlier_count);
}

TEST(PairOptions, InvalidOnesAreNamed) {
  const auto expect_named = [](const char* what, const PairOptions& options) {
    testing::expect_error(ErrorCode::invalid_argument, what,
                          [&] { PairPipeline(Context::cpu(1), options); });
  };
  expect_named("sobel", {.detector = "sobel"});
  expect_named("colour", {.settings = {{"colour", "1"}}});
  expect_named("max_features", {.max_features = -1});
  expect_named("max_size", {.max_size = -5});
  PairOptions options;
  options.fundamental.threshold = -1;
  expect_named("threshold", options);
  options = {};
  options.match.ratio = -1;
  expect_named("ratio", options);
  EXPECT_THROW(PairOptions{.max_size = -5}.validate(), Error);
}

TEST(TransferDistance, IsTheSumOverBothDirections) {
  const std::array<double, 9> twice = {2, 0, 10, 0, 2, 0, 0, 0, 1};  // x2 = 2 x1 + (10, 0)
  EXPECT_NEAR(transfer_distance(twice, {3, 4, 16, 8}), 0, 1e-12);
  EXPECT_NEAR(transfer_distance(twice, {3, 4, 16, 10}), 2 + 1, 1e-12);
}

}  // namespace
}  // namespace cornea
