// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/second_pose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "cornea/geometry/pose/homography_pose.h"
#include "cornea/geometry/refine/essential.h"

namespace cornea::geometry {
namespace {

// H = R + t m^T maps the rays of a plane's points; m . x is the inverse depth of ray x.
Matrix3<double> homography_of(const Pose& pose, const Vector3<double>& m) {
  const Vector3<double>& t = pose.translation;
  Matrix3<double> h = pose.rotation;
  const double terms[9] = {t.x * m.x, t.x * m.y, t.x * m.z, t.y * m.x, t.y * m.y,
                           t.y * m.z, t.z * m.x, t.z * m.y, t.z * m.z};
  for (int i = 0; i < 9; ++i) h.v[i] += terms[i];
  return h;
}

// Distance of p to H in the second image; infinite behind the camera.
double distance_to(const Matrix3<double>& h, const PointPair& p) {
  const Vector3<double> y = h * Vector3<double>{p.x1, p.y1, 1};
  if (!(y.z > 0)) return std::numeric_limits<double>::infinity();
  const double x = y.x / y.z - p.x2, v = y.y / y.z - p.y2;
  return std::sqrt(x * x + v * v);
}

// The plane of a pose's points by iteratively reweighted least squares of (x2 x H x1) = 0, which is
// linear in m. The weights make the minimum approach that of the sum of distances, which a few
// points off the plane hardly move. None if most points clearly lie off every plane.
std::optional<Matrix3<double>> fit_plane(const Pose& pose, std::span<const PointPair> points,
                                         double limit) {
  constexpr int kIterations = 10;
  std::vector<double> weights(points.size(), 1);
  Matrix3<double> h;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::array<Vector3<double>, 3> rows{};
    Vector3<double> right{};
    for (std::size_t i = 0; i < points.size(); ++i) {
      const PointPair& p = points[i];
      const Vector3<double> x = {p.x1, p.y1, 1}, y = {p.x2, p.y2, 1};
      const Vector3<double> of_t = cross(y, pose.translation), of_r = cross(y, pose.rotation * x);
      const double w = weights[i] * dot(of_t, of_t), b = -weights[i] * dot(of_t, of_r);
      rows[0] = sum(rows[0], scaled(x, w * x.x));
      rows[1] = sum(rows[1], scaled(x, w * x.y));
      rows[2] = sum(rows[2], scaled(x, w));
      right = sum(right, scaled(x, b));
    }
    const Vector3<double> c0 = cross(rows[1], rows[2]), c1 = cross(rows[2], rows[0]),
                          c2 = cross(rows[0], rows[1]);
    const double determinant = dot(rows[0], c0);
    if (!(determinant > 0)) return std::nullopt;
    const Vector3<double> m = scaled(
        sum(sum(scaled(c0, right.x), scaled(c1, right.y)), scaled(c2, right.z)), 1 / determinant);
    h = homography_of(pose, m);
    std::size_t on_plane = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double distance = distance_to(h, points[i]);
      on_plane += distance < limit;
      weights[i] = 1 / std::max(distance, limit);
    }
    // Most scenes end here.
    if (iteration > 0 && 4 * on_plane < points.size()) return std::nullopt;
  }
  return h;
}

double cosine_between(const Matrix3<double>& a, const Matrix3<double>& b) {
  double trace = 0;
  for (int i = 0; i < 9; ++i) trace += a.v[i] * b.v[i];
  return (trace - 1) / 2;
}

// About 1 degree of R and 3 degrees of t.
bool are_nearly_the_same(const Pose& a, const Pose& b) {
  return cosine_between(a.rotation, b.rotation) > 0.99985 &&
         dot(a.translation, b.translation) > 0.9986;
}

// Sums over points in their order, for the minimisation (see points.h).
struct InOrder {
  std::span<const PointPair> points;

  template <int K, class F>
  void sums(double (&out)[K], const F& f) const {
    std::fill(std::begin(out), std::end(out), 0.0);
    double terms[K];
    for (const PointPair& p : points) {
      if (!f(p, terms)) continue;
      for (int k = 0; k < K; ++k) out[k] += terms[k];
    }
  }
};

// Up to `most` points, evenly spread over their order.
std::vector<PointPair> some_of(std::span<const PointPair> points, std::size_t most) {
  std::vector<PointPair> some;
  for (std::size_t k = 0, n = std::min(points.size(), most); k < n; ++k) {
    some.push_back(points[k * points.size() / n]);
  }
  return some;
}

template <class Counts>
std::size_t count(std::span<const PointPair> points, const Counts& counts) {
  return std::size_t(std::count_if(points.begin(), points.end(), counts));
}

}  // namespace

bool has_second_pose(const Pose& pose, std::span<const PointPair> inliers,
                     std::span<const Correspondence> matches, const Normalisation& normalisation,
                     double limit, double width) {
  const Scales& scales = normalisation.scales;
  // The plane is fitted for every pair, and therefore only to a few points.
  constexpr std::size_t kMostFitted = 64, kMostRefined = 256;
  const std::vector<PointPair> few = some_of(inliers, kMostFitted);
  const auto h = fit_plane(pose, few, limit);
  const auto on_plane = [&](const PointPair& p) { return distance_to(*h, p) < limit; };
  if (!h || 10 * count(few, on_plane) < 9 * few.size()) return false;
  const std::vector<PlanePose> poses = decompose_homography(*h);
  if (poses.size() < 4) return false;
  const std::vector<PointPair> many = some_of(inliers, kMostRefined);
  const auto most_are_in_front = [&](const Pose& of) {
    const auto in_front = [&](const PointPair& p) {
      return is_in_front_of_both(scaled_depths(of, p));
    };
    return 4 * count(many, in_front) > 3 * many.size();
  };
  const auto inliers_of = [&](const Pose& of) {
    const auto is_inlier = inlier_test(essential_of(of), scales, width);
    return std::count_if(matches.begin(), matches.end(), [&](const Correspondence& m) {
      return is_inlier(normalisation(m.x1, m.y1, m.x2, m.y2));
    });
  };
  // The first two poses are of one plane, the last two of the other one.
  const std::size_t own = cosine_between(poses[0].rotation, pose.rotation) >
                                  cosine_between(poses[2].rotation, pose.rotation)
                              ? 0
                              : 2;
  for (std::size_t k = 2 - own; k < 4 - own; ++k) {
    Pose other = {poses[k].rotation, unit(poses[k].translation)};
    if (are_nearly_the_same(other, pose) || !most_are_in_front(other)) continue;
    // So far it rests on a plane fitted to points of `pose`, whose errors it inherits.
    InOrder team{many};
    other = minimise_pose(team, other, scales, kPoseLossWidth * width);
    constexpr int kFew = 3;  // matches that may be missing by chance alone
    if (!are_nearly_the_same(other, pose) && most_are_in_front(other) &&
        10 * (inliers_of(other) + kFew) >= 9 * inliers_of(pose)) {
      return true;
    }
  }
  return false;
}

}  // namespace cornea::geometry
