// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/solvers/five_point.h"

#include <gtest/gtest.h>

#include "cornea/geometry/pose/calibrated_scene_testing.h"

namespace cornea::geometry {
namespace {

using namespace testing;

Sample<double, 5> sample_of(const CalibratedScene& scene) {
  Sample<double, 5> s{};
  for (int i = 0; i < 5; ++i) {
    s.x1[i] = scene.rays[i].x1, s.y1[i] = scene.rays[i].y1;
    s.x2[i] = scene.rays[i].x2, s.y2[i] = scene.rays[i].y2;
  }
  return s;
}

// How far a matrix of norm 1 is from E E^T E = tr(E E^T) E / 2.
double constraint_error(const Matrix3<double>& e) {
  const Matrix3<double> g = e * transposed(e), cube = g * e;
  double worst = 0;
  for (int i = 0; i < 9; ++i) {
    const double error = cube.v[i] - (g.v[0] + g.v[4] + g.v[8]) / 2 * e.v[i];
    worst = std::max(worst, std::abs(error));
  }
  return worst;
}

struct Found {
  double share = 0;   // fraction of samples whose models contain the true E to 1e-6
  double models = 0;  // per sample
};

Found found_among_models(Motion motion, bool plane, int runs = 4000) {
  core::Random random(5);
  Found found;
  for (int run = 0; run < runs; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 5, motion, plane);
    double nearest = 9;
    const bool fixed = for_each_essential(sample_of(scene), [&](const Matrix3<double>& e) {
      nearest = std::min(nearest, difference(e, scene.essential));
      found.models += 1.0 / runs;
    });
    EXPECT_TRUE(fixed);
    found.share += (nearest < 1e-6) / double(runs);
  }
  return found;
}

TEST(FivePoint, FindsTheTrueEAmongItsModels) {
  const Found found = found_among_models(Motion::any, false);
  EXPECT_GT(found.share, 0.999);
  EXPECT_LT(found.models, 5);
}
TEST(FivePoint, FindsTheTrueEForPlanes) {
  EXPECT_GT(found_among_models(Motion::any, true).share, 0.996);
}
TEST(FivePoint, FindsForwardMotion) {
  EXPECT_GT(found_among_models(Motion::forward, false).share, 0.998);
}
TEST(FivePoint, FindsSidewaysMotionOfACameraThatDoesNotRotate) {
  EXPECT_GT(found_among_models(Motion::sideways, false).share, 0.999);
}

TEST(FivePoint, GivesEssentialMatricesThatFitTheSample) {
  core::Random random(6);
  int models = 0, wrong = 0;
  for (int run = 0; run < 2000; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 5);
    Sample<double, 5> s = sample_of(scene);
    for (int i = 0; i < 5; ++i) s.x1[i] += 0.01 * random.normal();
    const EssentialHypotheses found = from_five(s);
    ASSERT_LE(found.count, 10);
    for (int k = 0; k < found.count; ++k) {
      const Matrix3<double> e = converted<double>(found.e[k]);
      ++models;
      wrong += constraint_error(e) > 1e-6;
      double side = 0;
      const Vector3<double> left = five_point::left_epipole(e);
      for (int i = 0; i < 5; ++i) {
        const auto terms = epipolar_terms(e, s.x1[i], s.y1[i], s.x2[i], s.y2[i]);
        EXPECT_LT(std::abs(terms.e), 1e-5);
        const double o = orientation(e, left, s.x1[i], s.y1[i], s.x2[i], s.y2[i]);
        EXPECT_GE(o * side, 0);
        side = o;
      }
    }
  }
  EXPECT_GT(models, 4000);
  EXPECT_LT(wrong, models / 500);
}

TEST(FivePoint, GivesNothingForDegenerateSamples) {
  core::Random random(7);
  const CalibratedScene scene = calibrated_scene(random, 5);
  Sample<double, 5> s = sample_of(scene);
  s.x1[3] = s.x1[1], s.y1[3] = s.y1[1], s.x2[3] = s.x2[1], s.y2[3] = s.y2[1];
  const EssentialHypotheses found = from_five(s);
  EXPECT_EQ(found.count, 0);
  EXPECT_FALSE(found.fixed);
}

TEST(FivePoint, GivesNoModelWithPointsBehindACamera) {
  // One point moves in the opposite direction along its epipolar line, to the other side of the
  // epipole.
  core::Random random(8);
  int kept = 0, left_out = 0;
  for (int run = 0; run < 500; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 5, Motion::forward);
    Sample<double, 5> s = sample_of(scene);
    // Seen on the other side of the epipole, which is at the centre.
    s.x2[4] = -s.x2[4], s.y2[4] = -s.y2[4];
    for_each_essential(
        s, [&](const Matrix3<double>& e) { kept += difference(e, scene.essential) < 1e-6; });
    left_out += for_each_essential(s, [](const Matrix3<double>&) {});
  }
  EXPECT_EQ(kept, 0);
  EXPECT_GT(left_out, 450);
}

}  // namespace
}  // namespace cornea::geometry
