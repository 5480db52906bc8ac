// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/refine/homography.h"

#include <gtest/gtest.h>

#include "cornea/geometry/algebra/reflections.h"
#include "cornea/geometry/pose/calibrated_scene_testing.h"

namespace cornea::geometry {
namespace {

using namespace testing;

constexpr int kSums = normal_sums(kPlaneUnknowns);

// x2 ~ H x1 of norm 1, by least squares over exact points on a plane.
Matrix3<double> plane_of(const CalibratedScene& scene) {
  core::Random none(0);
  HostTeam<EpipolarMetric> team = team_of(scene, none);
  double m[packed_size(9)];
  team.sums<packed_size(9)>(m, [&](const PointPair& p, double* terms) {
    double a[9], b[9];
    transfer_rows(p.x1, p.y1, p.x2, p.y2, a, b);
    for (int i = 0; i < 9; ++i) {
      for (int j = 0; j <= i; ++j) terms[packed(i, j)] = a[i] * a[j] + b[i] * b[j];
    }
    return true;
  });
  Matrix3<double> h{{1, 0, 0, 0, 1, 0, 0, 0, 1}};
  smallest_eigenvector<9>(m, h.v, 10);
  return h;
}

Matrix3<double> disturbed(Matrix3<double> h, core::Random& random, double by) {
  for (double& v : h.v) v += by * random.normal();
  return normalised(h);
}

// Mean transfer distance of the exact points, pixels.
double transfer_error(const Matrix3<double>& h, const CalibratedScene& scene) {
  const Matrix3<double> g = inverse_direction(h);
  double sum = 0;
  for (const PointPair& p : scene.rays) {
    sum += std::sqrt(squared_transfer(h, g, p.x1, p.y1, p.x2, p.y2, 1.0)) * kFocal;
  }
  return sum / double(scene.rays.size());
}

Score score_of(const HostTeam<EpipolarMetric>& team, const Matrix3<float>& h, double threshold) {
  const Matrix3<float> g = inverse_direction(h);
  const float inverse = float(1 / (threshold * threshold * kPixel.second * kPixel.second));
  Score score{0, 0};
  for (int i = 0; i < team.count(); ++i) {
    const FloatPoint p = team.float_point(i);
    const float share = squared_transfer(h, g, p.x1, p.y1, p.x2, p.y2, 1.0f) * inverse;
    score.cost += cost_of(share);
    score.inliers += share < 1;
  }
  return score;
}

TEST(HomographyRefinement, GradientMatchesNumericDerivative) {
  core::Random random(1);
  for (int run = 0; run < 20; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 40, Motion::any, true);
    HostTeam<EpipolarMetric> team = team_of(scene, random, 1, 0.2);
    const Matrix3<double> h = disturbed(plane_of(scene), random, 1e-3);
    const double width = 0.003, k = 1.5;
    double sums[kSums];
    plane_equations(team, h, k, width, sums);
    double difference = 0, length = 0;
    for (int i = 0; i < kPlaneUnknowns; ++i) {
      const double step = 1e-7;
      double loss[2];
      for (int side = 0; side < 2; ++side) {
        double x[kPlaneUnknowns] = {}, moved[kSums];
        x[i] = side == 0 ? step : -step;
        plane_equations(team, moved_plane(h, x), k, width, moved);
        loss[side] = moved[kSums - 1];
      }
      const double slope = 2 * sums[packed_size(kPlaneUnknowns) + i] / (width * width);
      const double measured = (loss[0] - loss[1]) / (2 * step);
      difference = std::hypot(difference, slope - measured);
      length = std::hypot(length, measured);
    }
    // The derivatives are exact up to second order in the distance to the nearest correspondence.
    EXPECT_LT(difference, 2e-5 * length) << "run " << run;
  }
}

TEST(HomographyRefinement, FindsTheHomographyOfExactPoints) {
  core::Random random(2);
  for (int run = 0; run < 30; ++run) {
    const bool turns = run % 2 == 0;
    const CalibratedScene scene =
        calibrated_scene(random, 60, turns ? Motion::none : Motion::any, !turns);
    HostTeam<EpipolarMetric> team = team_of(scene, random);
    const Matrix3<double> h =
        minimise_homography(team, disturbed(plane_of(scene), random, 1e-3), kPixel, 10);
    EXPECT_LT(transfer_error(h, scene), 1e-3);
  }
}

TEST(HomographyRefinement, IgnoresOutliers) {
  core::Random random(3);
  double error = 0;
  constexpr int kRuns = 30;
  for (int run = 0; run < kRuns; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 300, Motion::any, true);
    HostTeam<EpipolarMetric> team = team_of(scene, random, 0.5, 0.4);
    const Matrix3<double> start = disturbed(plane_of(scene), random, 5e-4);
    error += transfer_error(minimise_homography(team, start, kPixel, 1.5), scene) / kRuns;
  }
  // There are 180 inliers, with noise in both images; the start is several pixels off.
  EXPECT_LT(error, 0.4);
}

TEST(HomographyRefinement, IsBetterThanTheLinearFit) {
  core::Random random(4);
  double linear = 0, minimised = 0;
  constexpr int kRuns = 60;
  for (int run = 0; run < kRuns; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 100, Motion::any, true);
    HostTeam<EpipolarMetric> team = team_of(scene, random, 1, 0);
    Matrix3<double> h = plane_of(scene);
    for (int i = 0; i < 3; ++i) h = refit_homography(team, h, kPixel, 6);
    linear += transfer_error(h, scene) / kRuns;
    minimised += transfer_error(minimise_homography(team, h, kPixel, 4), scene) / kRuns;
  }
  EXPECT_LT(minimised, linear);
}

// A plane that the second camera sees at a slant, a quarter as wide, and 100 points of it with a
// noise of 0.7 pixels in both images.
Matrix3<double> slanted_homography() {
  return normalised({{0.25, 0.02, 0.1, 0.05, 1, 0, 0.3, 0.1, 1}});
}
CalibratedScene slanted_plane(core::Random& random, const Matrix3<double>& h) {
  CalibratedScene scene;
  for (int i = 0; i < 100; ++i) {
    const double x = random.uniform(-0.5, 0.5), y = random.uniform(-0.5, 0.5);
    const Vector3<double> to = h * Vector3<double>{x, y, 1};
    auto noisy = [&](double v) { return v + 0.7 / kFocal * random.normal(); };
    scene.rays.push_back({noisy(x), noisy(y), noisy(to.x / to.z), noisy(to.y / to.z)});
  }
  return scene;
}

// The noise is the same in both images, so that exchanging them must not change the result, and the
// points of the wider image must not count more than those of the other.
TEST(HomographyRefinement, TreatsBothImagesOfAForeshortenedPlaneAlike) {
  core::Random random(6);
  const Matrix3<double> truth = slanted_homography();
  double linear = 0, minimised = 0, exchanged = 0;
  constexpr int kRuns = 60;
  for (int run = 0; run < kRuns; ++run) {
    const CalibratedScene scene = slanted_plane(random, truth);
    CalibratedScene other;
    for (const PointPair& p : scene.rays) other.rays.push_back({p.x2, p.y2, p.x1, p.y1});
    core::Random none(0);
    HostTeam<EpipolarMetric> team = team_of(scene, none), back = team_of(other, none);
    const Matrix3<double> h = minimise_homography(team, truth, kPixel, 4);
    const Matrix3<double> g =
        minimise_homography(back, normalised(inverse_direction(truth)), kPixel, 4);
    Matrix3<double> l = truth;
    for (int i = 0; i < 3; ++i) l = refit_homography(team, l, kPixel, 12);
    linear += difference(normalised(l), truth) / kRuns;
    minimised += difference(h, truth) / kRuns;
    exchanged += difference(h, normalised(inverse_direction(g))) / kRuns;
  }
  EXPECT_LT(minimised, linear);
  EXPECT_LT(exchanged, 0.02 * minimised);
}

// The same points, with those of the second image in normalised units of half the size.
TEST(HomographyRefinement, WeighsImagesByTheirScales) {
  core::Random random(7);
  const Matrix3<double> truth = slanted_homography();
  const CalibratedScene scene = slanted_plane(random, truth);
  CalibratedScene half;
  for (const PointPair& p : scene.rays) {
    half.rays.push_back({p.x1, p.y1, 0.5 * p.x2, 0.5 * p.y2});
  }
  core::Random none(0);
  HostTeam<EpipolarMetric> team = team_of(scene, none), of_half = team_of(half, none);
  const Matrix3<double> scaling = {{0.5, 0, 0, 0, 0.5, 0, 0, 0, 1}};
  const Matrix3<double> h = minimise_homography(team, truth, kPixel, 4);
  const Matrix3<double> g = minimise_homography(of_half, normalised(scaling * truth),
                                                {kPixel.first, 0.5 * kPixel.second}, 4);
  EXPECT_LT(difference(g, normalised(scaling * h)), 1e-3 * difference(h, truth));
}

// The loss of a single correspondence at a width of 1.5 pixels.
double loss_of(const PointPair& p, const Matrix3<double>& h) {
  CalibratedScene scene;
  scene.rays.push_back(p);
  core::Random none(0);
  HostTeam<EpipolarMetric> team = team_of(scene, none);
  double sums[kSums];
  plane_equations(team, normalised(h), 1, 1.5 / kFocal, sums);
  return sums[kSums - 1];
}

// To first order, a point near the line that H maps to infinity is near every correspondence.
TEST(HomographyRefinement, AWrongMatchNearTheHorizonIsAnOutlier) {
  const Matrix3<double> h = {{1, 0, 0, 0, 1, 0, 1, 0, 1}};
  EXPECT_DOUBLE_EQ(loss_of({-0.9995, 0.3, 0.2, -0.4}, h), 1 / 3.0);
}

TEST(HomographyRefinement, NearlySingularHomographiesHaveNoNegativeLoss) {
  const Matrix3<double> h = {{0.7, 0.3, 0.2, 0.2, 0.9, -0.3, 0.9, 1.2, -0.09999}};
  EXPECT_DOUBLE_EQ(loss_of({0.09, 0.0158633333, 0.3, -0.2}, h), 1 / 3.0);
}

TEST(HomographyRefinement, OptimisesAHypothesisOfNoisyPoints) {
  core::Random random(5);
  double before = 0, after = 0, error_before = 0, error_after = 0;
  for (int run = 0; run < 50; ++run) {
    const CalibratedScene scene = calibrated_scene(random, 200, Motion::any, true);
    HostTeam<EpipolarMetric> team = team_of(scene, random, 0.5, 0.3);
    auto score = [&](const Matrix3<float>& h) { return score_of(team, h, 3); };
    // A sample of four noisy points.
    Reflections<8, double> system;
    for (int i = 0; i < 4; ++i) {
      const PointPair& p = scene.rays[random.integer(0, 199)];
      auto noisy = [&](double v) { return v + 0.5 / kFocal * random.normal(); };
      transfer_rows(noisy(p.x1), noisy(p.y1), noisy(p.x2), noisy(p.y2), system.v[2 * i],
                    system.v[2 * i + 1]);
    }
    system.factorise();
    if (!(system.rank > 1e-12)) continue;
    Model model{system.null_vector(8), {}};
    model.score = score(converted<float>(model.f));
    if (model.score.inliers < 20) continue;
    const Score start = model.score;
    before += start.cost, error_before += transfer_error(model.f, scene);
    optimise_homography(team, kPixel, 3, score, model);
    EXPECT_LE(model.score.cost, start.cost);
    after += model.score.cost, error_after += transfer_error(model.f, scene);
  }
  EXPECT_LT(after, 0.8 * before);
  EXPECT_LT(error_after, 0.3 * error_before);
}

}  // namespace
}  // namespace cornea::geometry
