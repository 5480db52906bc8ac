// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/refine/shared_focal.h"

#include <cmath>

#include <gtest/gtest.h>

#include "cornea/geometry/pose/calibrated_scene_testing.h"

namespace cornea::geometry {
namespace {

using namespace testing;

// F of rays that were computed with a guess, where the true focal length is f guesses.
Matrix3<double> guessed(const CalibratedScene& scene, double f) {
  return of_norm_one(with_focal(scene.essential, f));
}

TEST(SharedFocal, IsFoundFromF) {
  core::Random random(4);
  for (int run = 0; run < 200; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 10);
    const double f = std::exp2(random.uniform(-1.5, 1.5));
    const double found = focal_of(guessed(scene, f));
    // Another focal length may explain the same F, but none explains it better.
    EXPECT_LT(inequality(guessed(scene, f), found), 1e-4) << run;
    EXPECT_NEAR(inequality(guessed(scene, f), f), 0, 1e-12);
  }
}

TEST(SharedFocal, GradientMatchesNumericDerivative) {
  core::Random random(1);
  constexpr int kUnknowns = FocalManifold::kUnknowns, kSums = normal_sums(kUnknowns);
  for (int run = 0; run < 20; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 40);
    HostTeam<EpipolarMetric> team = team_of(scene, random, 1, 0.2, 2, 0.8);
    const FocalManifold::State state = {essential_frame(scene.essential), 0.83};
    const double width = 0.002, k = 0.7;
    double sums[kSums];
    FocalManifold::equations(team, state, k, width, sums);
    for (int i = 0; i < kUnknowns; ++i) {
      const double h = 1e-6;
      double loss[2];
      for (int side = 0; side < 2; ++side) {
        double x[kUnknowns] = {}, moved[kSums];
        x[i] = side == 0 ? h : -h;
        FocalManifold::equations(team, FocalManifold::moved(state, x), k, width, moved);
        loss[side] = moved[kSums - 1];
      }
      const double slope = 2 * sums[packed_size(kUnknowns) + i] / (width * width);
      const double measured = (loss[0] - loss[1]) / (2 * h);
      EXPECT_NEAR(slope, measured, 1e-4 * (1 + std::abs(measured))) << "unknown " << i;
    }
  }
}

TEST(SharedFocal, FindsTheFocalLengthOfExactPoints) {
  core::Random random(2);
  for (int run = 0; run < 30; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 60);
    const double f = 0.9;
    HostTeam<EpipolarMetric> team = team_of(scene, random, 0, 0, 2, f);
    // A start that is wrong by 5%.
    const Matrix3<double> start = guessed(scene, f * 1.05);
    const Scales scales = {kPixel.first * f, kPixel.second * f};
    const FocalManifold::State before = {essential_frame(scene.essential), f * 1.05};
    EXPECT_LT(difference(of_norm_one(FocalManifold::matrix(before)), start), 1e-9);
    const Matrix3<double> found = minimise_on<FocalManifold>(team, start, scales, 0.3, 30);
    EXPECT_LT(difference(of_norm_one(found), guessed(scene, f)), 2e-3) << run;
  }
}

}  // namespace
}  // namespace cornea::geometry
