// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/refine/essential.h"

#include <gtest/gtest.h>

#include "cornea/geometry/pose/calibrated_scene_testing.h"
#include "cornea/geometry/solvers/five_point.h"

namespace cornea::geometry {
namespace {

using namespace testing;

constexpr int kSums = normal_sums(kPoseUnknowns);

// A pose near the true one.
Pose disturbed(const CalibratedScene& scene, core::Random& random, double angle) {
  auto direction = [&] {
    return Vector3<double>{random.normal(), random.normal(), random.normal()};
  };
  const Matrix3<double> r = rotation_about(direction(), angle) * scene.rotation;
  return {r, rotation_about(direction(), angle) * scene.translation};
}

double angle_of(const Vector3<double>& a, const Vector3<double>& b) {
  const Vector3<double> c = cross(a, b);
  return std::atan2(std::sqrt(dot(c, c)), dot(a, b));
}

TEST(EssentialRefinement, GradientMatchesNumericDerivative) {
  core::Random random(1);
  for (int run = 0; run < 20; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 40);
    HostTeam<EpipolarMetric> team = team_of(scene, random, 1, 0.2);
    const EpipolarFrame frame = essential_frame(essential_of(disturbed(scene, random, 0.003)));
    const double width = 0.002, k = 0.7;
    double sums[kSums];
    PoseManifold::equations(team, frame, k, width, sums);
    for (int i = 0; i < kPoseUnknowns; ++i) {
      const double h = 1e-6;
      double loss[2];
      for (int side = 0; side < 2; ++side) {
        double x[kPoseUnknowns] = {}, moved[kSums];
        x[i] = side == 0 ? h : -h;
        PoseManifold::equations(team, moved_frame(frame, x), k, width, moved);
        loss[side] = moved[kSums - 1];
      }
      const double slope = 2 * sums[packed_size(kPoseUnknowns) + i] / (width * width);
      const double measured = (loss[0] - loss[1]) / (2 * h);
      EXPECT_NEAR(slope, measured, 1e-4 * (1 + std::abs(measured))) << "unknown " << i;
    }
  }
}

TEST(EssentialRefinement, FindsThePoseOfExactRays) {
  core::Random random(2);
  for (const Motion motion : {Motion::any, Motion::forward, Motion::sideways}) {
    for (int run = 0; run < 20; ++run) {
      const CalibratedScene scene = calibrated_scene(random, 50, motion);
      HostTeam<EpipolarMetric> team = team_of(scene, random);
      const Pose pose = minimise_pose(team, disturbed(scene, random, 0.01), kPixel, 20);
      EXPECT_LT(angle_between(pose.rotation, scene.rotation), 1e-5);
      EXPECT_LT(angle_of(pose.translation, scene.translation), 1e-4);
    }
  }
}

TEST(EssentialRefinement, GivesARotationAndAUnitTranslation) {
  core::Random random(3);
  const CalibratedScene scene = calibrated_scene(random, 50);
  HostTeam<EpipolarMetric> team = team_of(scene, random, 1, 0.3);
  const Pose pose = minimise_pose(team, disturbed(scene, random, 0.01), kPixel, 1);
  const Matrix3<double> one = pose.rotation * transposed(pose.rotation);
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(one.v[i], i % 4 == 0, 1e-14);
  const Matrix3<double> c = cofactors(pose.rotation);
  EXPECT_NEAR(c.v[0], pose.rotation.v[0], 1e-14);  // not a reflection
  EXPECT_NEAR(dot(pose.translation, pose.translation), 1, 1e-14);
}

TEST(EssentialRefinement, IgnoresOutliers) {
  core::Random random(4);
  double rotation = 0, translation = 0;
  constexpr int kRuns = 30;
  for (int run = 0; run < kRuns; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 300);
    HostTeam<EpipolarMetric> team = team_of(scene, random, 0.5, 0.4);
    const Pose pose = minimise_pose(team, disturbed(scene, random, 0.002), kPixel, 1);
    rotation += angle_between(pose.rotation, scene.rotation) / kRuns;
    translation += angle_of(pose.translation, scene.translation) / kRuns;
  }
  EXPECT_LT(rotation, 0.001);  // radians
  EXPECT_LT(translation, 0.004);
}

TEST(EssentialRefinement, OptimisesAHypothesisOfNoisyPoints) {
  core::Random random(5);
  double before = 0, after = 0, error_before = 0, error_after = 0;
  constexpr int kRuns = 100;
  for (int run = 0; run < kRuns; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 200);
    HostTeam<EpipolarMetric> team = team_of(scene, random, 0.5, 0.3);
    // The best model of ten samples without outliers.
    Model best;
    for (int draw = 0; draw < 10; ++draw) {
      Sample<double, 5> s{};
      for (int i = 0; i < 5; ++i) {
        const PointPair& p = scene.rays[random.integer(0, 199)];
        auto noisy = [&](double v) { return v + 0.5 / kFocal * random.normal(); };
        s.x1[i] = noisy(p.x1), s.y1[i] = noisy(p.y1), s.x2[i] = noisy(p.x2), s.y2[i] = noisy(p.y2);
      }
      for_each_essential(s, [&](const Matrix3<double>& e) {
        const Score score = team.score(converted<float>(e));
        if (score.cost < best.score.cost) best = {e, score};
      });
    }
    before += best.score.cost;
    error_before += difference(of_norm_one(best.f), scene.essential) / kRuns;
    const Score start = best.score;
    optimise_on<PoseManifold>(team, kPixel, 2, best);
    EXPECT_LE(best.score.cost, start.cost);
    after += best.score.cost;
    error_after += difference(of_norm_one(best.f), scene.essential) / kRuns;
  }
  EXPECT_LT(after, 0.85 * before);
  EXPECT_LT(error_after, 0.5 * error_before);
}

TEST(RotationRefinement, FindsTheRotationOfACameraThatOnlyRotates) {
  core::Random random(6);
  for (int run = 0; run < 20; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 100, Motion::none);
    HostTeam<EpipolarMetric> exact = team_of(scene, random),
                             noisy = team_of(scene, random, 0.5, 0.3);
    const Matrix3<double> start = disturbed(scene, random, 0.003).rotation;
    EXPECT_LT(angle_between(minimise_rotation(exact, start, kPixel, 5), scene.rotation), 1e-6);
    EXPECT_LT(angle_between(minimise_rotation(noisy, start, kPixel, 2), scene.rotation), 5e-4);
  }
}

}  // namespace
}  // namespace cornea::geometry
