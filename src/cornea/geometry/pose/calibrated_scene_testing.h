// SPDX-License-Identifier: Apache-2.0
// For tests: rays of random points in two calibrated views, with the pose between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "cornea/core/random.h"
#include "cornea/geometry/algebra/frame.h"
#include "cornea/geometry/ransac/host_team.h"
#include "cornea/geometry/scoring/epipolar.h"

namespace cornea::geometry::testing {

struct CalibratedScene {
  Matrix3<double> rotation{};           // X2 = R X1 + t
  Vector3<double> translation{};        // of length 1, or 0
  Matrix3<double> essential{};          // of norm 1
  std::vector<Vector3<double>> points;  // in front of both cameras, in the first one's coordinates
  std::vector<PointPair> rays;
};

enum class Motion { any, forward, sideways, none };

inline Matrix3<double> rotation_about(const Vector3<double>& axis, double angle) {
  const Vector3<double> a = unit(axis);
  const double c = std::cos(angle), s = std::sin(angle), d = 1 - c;
  return {{c + a.x * a.x * d, a.x * a.y * d - a.z * s, a.x * a.z * d + a.y * s,
           a.y * a.x * d + a.z * s, c + a.y * a.y * d, a.y * a.z * d - a.x * s,
           a.z * a.x * d - a.y * s, a.z * a.y * d + a.x * s, c + a.z * a.z * d}};
}

inline Matrix3<double> of_norm_one(Matrix3<double> m) {
  double norm = 0;
  for (double v : m.v) norm += v * v;
  for (double& v : m.v) v /= std::sqrt(norm);
  return m;
}

// The distance between two matrices of norm 1, regardless of their signs.
inline double difference(const Matrix3<double>& a, const Matrix3<double>& b) {
  double minus = 0, plus = 0;
  for (int i = 0; i < 9; ++i) {
    minus += (a.v[i] - b.v[i]) * (a.v[i] - b.v[i]);
    plus += (a.v[i] + b.v[i]) * (a.v[i] + b.v[i]);
  }
  return std::sqrt(std::min(minus, plus));
}

// The angle of the rotation between two rotations, radians.
inline double angle_between(const Matrix3<double>& a, const Matrix3<double>& b) {
  const Matrix3<double> d = transposed(a) * b;
  const Vector3<double> twice = {d.v[7] - d.v[5], d.v[2] - d.v[6], d.v[3] - d.v[1]};
  return std::atan2(std::sqrt(dot(twice, twice)), d.v[0] + d.v[4] + d.v[8] - 1);
}

// Points at depths of 4 to 12 baselines, or on a plane, seen by two cameras that are rotated by up
// to `angle` radians relative to each other.
inline CalibratedScene calibrated_scene(core::Random& random, int count,
                                        Motion motion = Motion::any, bool plane = false,
                                        double angle = 0.5) {
  CalibratedScene scene;
  auto direction = [&] {
    return unit(Vector3<double>{random.normal(), random.normal(), random.normal()});
  };
  if (motion == Motion::forward || motion == Motion::sideways) angle = 0;
  const Vector3<double> axis = direction();  // apart, because the order of arguments is not defined
  scene.rotation = rotation_about(axis, random.uniform(0, angle));
  scene.translation = direction();
  if (motion == Motion::forward) scene.translation = {0, 0, -1};
  if (motion == Motion::sideways) scene.translation = {-1, 0, 0};
  scene.essential = of_norm_one(cross_matrix(scene.translation) * scene.rotation);
  if (motion == Motion::none) scene.translation = {0, 0, 0};
  const Vector3<double> normal = unit({random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 1});
  while (int(scene.points.size()) < count) {
    const double x = random.uniform(-0.7, 0.7), y = random.uniform(-0.5, 0.5);
    double depth = random.uniform(4, 12);
    if (plane) depth = 7 / dot(normal, Vector3<double>{x, y, 1});
    const Vector3<double> p = {x * depth, y * depth, depth};
    const Vector3<double> q = sum(scene.rotation * p, scene.translation);
    if (q.z < 0.5 || std::abs(q.x) > 2 * q.z || std::abs(q.y) > 2 * q.z) continue;
    scene.points.push_back(p);
    scene.rays.push_back({x, y, q.x / q.z, q.y / q.z});
  }
  return scene;
}

// A team of a scene's rays as a camera of focal length kFocal sees them, with noise in pixels and a
// fraction of outliers, computed with a focal length that is wrong by a factor.
inline constexpr double kFocal = 1000;
inline constexpr Scales kPixel = {1 / kFocal, 1 / kFocal};
inline HostTeam<EpipolarMetric> team_of(const CalibratedScene& scene, core::Random& random,
                                        double noise = 0, double outliers = 0, double threshold = 2,
                                        double focal_factor = 1) {
  std::vector<Correspondence> matches;
  for (const PointPair& p : scene.rays) {
    auto pixel = [&](double v) { return float(v * kFocal + noise * random.normal()); };
    Correspondence match = {pixel(p.x1), pixel(p.y1), pixel(p.x2), pixel(p.y2)};
    if (random.uniform() < outliers) {
      match.x2 = float(random.uniform(-700, 700));
      match.y2 = float(random.uniform(-500, 500));
    }
    matches.push_back(match);
  }
  HostTeam<EpipolarMetric> team;
  team.set(matches);
  team.apply({.scales = {kPixel.first * focal_factor, kPixel.second * focal_factor}}, threshold);
  return team;
}

}  // namespace cornea::geometry::testing
