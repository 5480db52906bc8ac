// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/solvers/six_point_focal.h"

#include <gtest/gtest.h>

#include "cornea/geometry/pose/calibrated_scene_testing.h"

namespace cornea::geometry {
namespace {

using namespace testing;

Sample<double, 6> sample_of(const CalibratedScene& scene, double focal) {
  Sample<double, 6> s{};
  for (int i = 0; i < 6; ++i) {
    const PointPair& p = scene.rays[i];
    s.x1[i] = focal * p.x1, s.y1[i] = focal * p.y1;
    s.x2[i] = focal * p.x2, s.y2[i] = focal * p.y2;
  }
  return s;
}

Matrix3<double> fundamental_of(const CalibratedScene& scene, double focal) {
  Matrix3<double> f = scene.essential;
  for (int i = 0; i < 9; ++i) f.v[i] *= (i / 3 == 2 ? focal : 1) * (i % 3 == 2 ? focal : 1);
  return of_norm_one(f);
}

TEST(SixPointFocal, FindsTheTrueFAndFocalLength) {
  core::Random random(1);
  int found = 0, models = 0;
  constexpr int kRuns = 1500;
  for (int run = 0; run < kRuns; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 6);
    const double focal = random.uniform(0.4, 2.5);
    const Matrix3<double> truth = fundamental_of(scene, focal);
    bool near = false;
    for_each_shared_focal(sample_of(scene, focal), [&](const Matrix3<double>& f, double at) {
      near |= difference(f, truth) < 1e-6 && std::abs(at / focal - 1) < 1e-5;
      EXPECT_GE(at, kLeastFocal);
      EXPECT_LE(at, kMostFocal);
      ++models;
    });
    found += near;
  }
  EXPECT_GT(found, 0.985 * kRuns);
  EXPECT_LT(models, 4 * kRuns);
}

TEST(SixPointFocal, GivesModelsThatAreEssentialWithTheirFocalLength) {
  core::Random random(2);
  int models = 0, wrong = 0;
  for (int run = 0; run < 300; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 6);
    Sample<double, 6> s = sample_of(scene, 1.2);
    for (int i = 0; i < 6; ++i) s.x1[i] += 0.002 * random.normal();
    const SharedFocalHypotheses found = from_six(s);
    for (int k = 0; k < found.count; ++k) {
      const Matrix3<double> f = converted<double>(found.f[k]);
      for (int i = 0; i < 6; ++i) {
        EXPECT_LT(std::abs(epipolar_terms(f, s.x1[i], s.y1[i], s.x2[i], s.y2[i]).e), 1e-5);
      }
      Matrix3<double> e = f;
      const double g = 1 / double(found.focal[k]);
      for (int i = 0; i < 9; ++i) e.v[i] *= (i / 3 == 2 ? g : 1) * (i % 3 == 2 ? g : 1);
      e = of_norm_one(e);
      const EpipolarFrame frame = frame_of(e);
      ++models;
      wrong += !(std::abs(frame.s - 1) < 1e-3);
    }
  }
  EXPECT_GT(models, 300);
  EXPECT_LT(wrong, models / 50);
}

TEST(SixPointFocal, GivesNothingForDegenerateSamples) {
  core::Random random(3);
  Sample<double, 6> s = sample_of(calibrated_scene(random, 6), 1);
  s.x1[3] = s.x1[1], s.y1[3] = s.y1[1], s.x2[3] = s.x2[1], s.y2[3] = s.y2[1];
  EXPECT_EQ(from_six(s).count, 0);
  EXPECT_FALSE(from_six(s).fixed);
}

}  // namespace
}  // namespace cornea::geometry
