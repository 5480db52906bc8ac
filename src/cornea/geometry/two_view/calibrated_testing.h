// SPDX-License-Identifier: Apache-2.0
// Generated matches of two cameras, and the errors of a pose, for the tests of E, H and the choice
// between models.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "cornea/core/testing.h"
#include "cornea/geometry/pose/calibrated_scene_testing.h"
#include "cornea/geometry/two_view/essential.h"

namespace cornea::testing {

using geometry::testing::CalibratedScene;
using geometry::testing::Motion;

inline constexpr Intrinsics kFirst{1000, 1000, 640, 480}, kSecond{1200, 1180, 600, 500};
inline constexpr IntrinsicsPair kCameras{kFirst, kSecond};

struct Views {
  CalibratedScene scene;
  std::vector<Correspondence> matches;
  std::vector<std::uint8_t> right;
};

inline Views make_views(std::uint64_t seed, int count, double noise, double outliers,
                        Motion motion = Motion::any, bool plane = false,
                        const IntrinsicsPair& cameras = kCameras) {
  core::Random random(seed, 5);
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

inline geometry::Matrix3<double> matrix(const std::array<double, 9>& m) {
  geometry::Matrix3<double> result;
  std::copy(m.begin(), m.end(), result.v);
  return result;
}
inline double degrees(double radians) { return radians * 180 / std::numbers::pi; }
inline double rotation_error(const std::array<double, 9>& R, const CalibratedScene& scene) {
  return degrees(geometry::testing::angle_between(matrix(R), scene.rotation));
}
inline double translation_error(const std::array<double, 3>& t, const CalibratedScene& scene) {
  const auto& s = scene.translation;
  const double dot = t[0] * s.x + t[1] * s.y + t[2] * s.z;
  return degrees(std::acos(std::clamp(dot, -1.0, 1.0)));
}

}  // namespace cornea::testing
