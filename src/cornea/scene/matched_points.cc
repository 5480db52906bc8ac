// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/matched_points.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Dense>
#include <Eigen/Geometry>

#include "cornea/core/error.h"
#include "cornea/core/random.h"

namespace cornea {
namespace {

using namespace core;

constexpr double kFocal = 900, kWidth = 1280, kHeight = 960;  // pixels

bool is_share(double v) { return v >= 0 && v <= 1; }

}  // namespace

void MatchedPointsOptions::validate() const {
  require(count >= 0, "count must be 0 or more, not ", count);
  require(is_share(outliers) && is_share(plane), "outliers and plane must be 0 to 1, not ",
          outliers, " and ", plane);
  require(noise >= 0 && std::isfinite(noise), "noise must be 0 pixels or more, not ", noise);
}

MatchedPoints make_matched_points(const MatchedPointsOptions& options) {
  options.validate();
  using Eigen::AngleAxisd, Eigen::Matrix3d, Eigen::Vector3d;
  Random random(options.seed);
  // Small enough that the views overlap.
  auto angle = [&](double deviation) { return std::clamp(deviation * random.normal(), -0.7, 0.7); };
  const double about_x = angle(0.2), about_y = angle(0.3);
  const Matrix3d turn =
      (AngleAxisd(0.1 * random.normal(), Vector3d::UnitZ()) *
       AngleAxisd(about_y, Vector3d::UnitY()) * AngleAxisd(about_x, Vector3d::UnitX()))
          .toRotationMatrix();
  // One draw per statement, because the order of evaluation of arguments is unspecified.
  Vector3d move;
  move.x() = 1 + random.uniform();
  move.y() = random.normal() / 2;
  move.z() = random.normal() / 2;
  if (!options.moves) move.setZero();
  Matrix3d camera;
  camera << kFocal, 0, kWidth / 2, 0, kFocal, kHeight / 2, 0, 0, 1;

  MatchedPoints result;
  Matrix3d cross;
  cross << 0, -move.z(), move.y(), move.z(), 0, -move.x(), -move.y(), move.x(), 0;
  const Matrix3d f = camera.inverse().transpose() * cross * turn * camera.inverse();
  if (options.moves) {
    for (int i = 0; i < 9; ++i) result.F[i] = f(i / 3, i % 3) / f.norm();
  }
  const auto inliers = std::lround(options.count * (1 - options.outliers));
  while (long(result.matches.size()) < inliers) {
    const double x = random.uniform(0, kWidth), y = random.uniform(0, kHeight);
    const Vector3d ray = camera.inverse() * Vector3d(x, y, 1);
    const bool on_plane = result.matches.size() < options.plane * inliers;
    const double depth = on_plane ? 6 / (1 + 0.3 * ray.x() - 0.2 * ray.y()) : random.uniform(4, 10);
    const Vector3d second = camera * (turn * ray * depth + move);
    const double x2 = second.x() / second.z(), y2 = second.y() / second.z();
    if (second.z() < 0.5 || x2 < 0 || x2 > kWidth || y2 < 0 || y2 > kHeight) continue;
    result.exact.push_back({float(x), float(y), float(x2), float(y2)});
    auto noisy = [&](double v) { return float(v + options.noise * random.normal()); };
    const float a = noisy(x), b = noisy(y), c = noisy(x2);
    result.matches.push_back({a, b, c, noisy(y2)});
    result.inliers.push_back(1);
  }
  while (int(result.matches.size()) < options.count) {
    auto within = [&](double size) { return float(random.uniform(0, size)); };
    const float a = within(kWidth), b = within(kHeight), c = within(kWidth);
    result.matches.push_back({a, b, c, within(kHeight)});
    result.inliers.push_back(0);
  }
  for (int i = options.count - 1; i > 0; --i) {
    const int j = random.integer(0, i);
    std::swap(result.matches[i], result.matches[j]);
    std::swap(result.inliers[i], result.inliers[j]);
  }
  return result;
}

}  // namespace cornea
