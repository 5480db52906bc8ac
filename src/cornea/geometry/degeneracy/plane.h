// SPDX-License-Identifier: Apache-2.0
// Planes and pure rotations (DEGENSAC: O. Chum, T. Werner, J. Matas, "Two-view geometry estimation
// unaffected by a dominant plane", CVPR 2005), shared by CPU and CUDA: the homography that explains
// most inliers of F, F from it and two points off its plane (plane and parallax), and whether
// anything off the plane supports F at all. `Team`: points.h.
#pragma once

#include "cornea/geometry/algebra/symmetric.h"
#include "cornea/geometry/outcome.h"
#include "cornea/geometry/ransac/search.h"
#include "cornea/geometry/sampling.h"
#include "cornea/geometry/scoring/epipolar.h"
#include "cornea/geometry/solvers/four_point.h"

namespace cornea::geometry {

// Number of homographies that are tried. If a plane holds half of F's inliers, 4 random inliers all
// lie on it with probability 1/16.
inline constexpr int kPlaneSamples = 128;
inline constexpr int kPlaneJudges = 64;  // each homography is scored on at most this many inliers
// Pairs of points off the plane, per batch and at most. Drawing stops when a good pair has been
// drawn with the confidence of the search.
inline constexpr int kParallaxBatch = 256, kMostParallax = 8192;
// If a smaller fraction of F's inliers lies on a plane, the other inliers determine F.
inline constexpr double kDominance = 0.5;
// How many inliers of F off the plane are needed to rule out chance. Two points off the plane
// define an F that fits the plane exactly, and a few more are within its threshold: kOffPlaneBase.
// One in kPointsPerChance points off the plane lies on its epipolar line by chance. On repeated
// patterns, wrong matches look like depth along the motion: one per kInliersPerChance inliers on
// the plane, and up to one per kInliersPerRepetition (measured on ubc 1-4, where the camera stood
// still).
inline constexpr double kOffPlaneBase = 6, kPointsPerChance = 50, kInliersPerChance = 50,
                        kInliersPerRepetition = 25;
CORNEA_HD inline double least_off_plane(double points_off, double inliers_on) {
  const double by_chance =
      kOffPlaneBase + points_off / kPointsPerChance + inliers_on / kInliersPerChance;
  const double by_repetition = inliers_on / kInliersPerRepetition;
  return by_chance > by_repetition ? by_chance : by_repetition;
}

template <class Team>
CORNEA_HD Matrix3<double> refit_plane(Team& team, const Plane& plane) {
  double m[packed_size(9)];
  team.template sums<packed_size(9)>(m, [&](const PointPair& p, double* terms) {
    if (!plane.has(p)) return false;
    double a[9], b[9];
    transfer_rows(p.x1, p.y1, p.x2, p.y2, a, b);
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) {
      CORNEA_UNROLL
      for (int j = 0; j < 9; ++j) {
        if (j <= i) terms[packed(i, j)] = a[i] * a[j] + b[i] * b[j];
      }
    }
    return true;
  });
  Matrix3<double> h = plane.h;
  smallest_eigenvector<9>(m, h.v);
  return h;
}

// The homography of most inliers of F, or of all points if there is no F. Like F it has the least
// MSAC cost, but of transfer distances, and over at most kPlaneJudges of these points.
template <class Team>
CORNEA_HD bool find_plane(Team& team, std::uint64_t seed, std::uint64_t pair, const Search& search,
                          double threshold, Plane& plane) {
  const Scales& scales = search.normalisation.scales;
  const InlierTest inlier = inlier_test(search.best.f, scales, threshold);
  const bool all = !is_cost(search.best.score.cost);
  const int inliers = team.list([&](const PointPair& p) { return all || inlier(p); });
  if (inliers < 4) return false;
  const int judges = inliers < kPlaneJudges ? inliers : kPlaneJudges;
  const float r = float(plane.r), inverse = float(plane.inverse);
  const RoundBest best = team.best_of(kPlaneSamples, [&](int h, Matrix3<float>& model) {
    std::uint32_t drawn[4];
    draw_sample(seed, pair, h, Stream::plane, inliers, 4, drawn);
    Reflections<8, float> system;
    CORNEA_UNROLL
    for (int i = 0; i < 4; ++i) {
      const auto p = team.float_point(team.listed(drawn[i]));
      transfer_rows(p.x1, p.y1, p.x2, p.y2, system.v[2 * i], system.v[2 * i + 1]);
    }
    system.factorise();
    if (!(system.rank > kLeastRank)) return kNoCost;
    model = system.null_vector(8);
    const Matrix3<float> back = inverse_direction(model);
    std::uint32_t cost = 0;
    for (int i = 0; i < judges; ++i) {
      const auto p = team.float_point(team.listed(int(std::int64_t(i) * inliers / judges)));
      cost += cost_of(squared_transfer(model, back, p.x1, p.y1, p.x2, p.y2, r) * inverse);
    }
    return cost;
  });
  if (!is_cost(best.cost())) return false;
  plane.set(converted<double>(best.f));
  constexpr int kRefits = 2;
  for (int i = 0; i < kRefits; ++i) plane.set(refit_plane(team, plane));
  return true;
}

// F = [e]x H, where the epipole e is the intersection of the lines from H x1 to x2 of two points
// off the plane. Returns the best of as many pairs as the confidence requires.
template <class Team>
CORNEA_HD RoundBest from_parallax(Team& team, const SearchOptions& options, std::uint64_t pair,
                                  const Scales& scales, double threshold, const Plane& plane) {
  const int off = team.list([&](const PointPair& p) { return !plane.has(p); });
  RoundBest best;
  if (off < 2) return best;
  const Matrix3<float> h = converted<float>(plane.h);
  const CostScale scale = cost_scale(scales, threshold);
  for (int drawn = 0; drawn < kMostParallax;) {
    const RoundBest batch = team.best_of(kParallaxBatch, [&](int k, Matrix3<float>& model) {
      std::uint32_t two[2];
      draw_sample(options.seed, pair, drawn + k, Stream::parallax, off, 2, two);
      Vector3<float> line[2];
      CORNEA_UNROLL
      for (int i = 0; i < 2; ++i) {
        const auto p = team.float_point(team.listed(two[i]));
        line[i] = cross(h * Vector3<float>{p.x1, p.y1, 1}, Vector3<float>{p.x2, p.y2, 1});
      }
      const Vector3<float> e = cross(line[0], line[1]);
      const float length = sqrtf(dot(e, e));
      if (!(length > 0)) return kNoCost;
      model = cross_matrix(Vector3<float>{e.x / length, e.y / length, e.z / length}) * h;
      return team.cost_alone(model, scale);
    });
    drawn += kParallaxBatch;
    if (batch.cost() < best.cost()) best = batch;
    if (!is_cost(best.cost())) continue;
    // Counts the points off the plane that agree with the best model so far.
    const InlierTest inlier = inlier_test(converted<double>(best.f), scales, threshold);
    double agree[1];
    team.template sums<1>(agree, [&](const PointPair& p, double* terms) {
      terms[0] = 1;
      return !plane.has(p) && inlier(p);
    });
    if (enough_samples(agree[0] / off, 2, drawn, options.confidence)) break;
  }
  return best;
}

// Classifies the search's best model at a threshold; `found` says whether there is one. May replace
// it by a better one.
template <class Team, class Optimise>
CORNEA_HD TwoView judge_plane(Team& team, const SearchOptions& options, std::uint64_t pair,
                              double threshold, bool found, const Optimise& optimise,
                              Search& search, Plane& plane) {
  const TwoView nothing = search.fixed ? TwoView::none : TwoView::degenerate;
  const Scales& scales = search.normalisation.scales;
  plane = plane_of({}, scales, kPlaneWidth * threshold);
  if (!find_plane(team, options.seed, pair, search, threshold, plane)) {
    return found ? TwoView::general : nothing;
  }
  struct Counts {
    double inliers_on, inliers_off, points_off;
  };
  auto count = [&] {
    const InlierTest inlier = inlier_test(search.best.f, scales, threshold);
    double sums[3];
    team.template sums<3>(sums, [&](const PointPair& p, double* terms) {
      const bool on = plane.has(p), in = inlier(p);
      terms[0] = on && in;
      terms[1] = !on && in;
      terms[2] = !on;
      return true;
    });
    return Counts{sums[0], sums[1], sums[2]};
  };
  Counts counts = count();
  if (!found) {  // points that lie exactly on a plane do not determine F
    const double on = team.count() - counts.points_off;
    return on >= kLeastSupport && on > kDominance * team.count() ? TwoView::planar : nothing;
  }
  // A few points always fit some plane: any four do.
  if (counts.inliers_on < kLeastSupport ||
      counts.inliers_on < kDominance * (counts.inliers_on + counts.inliers_off)) {
    return TwoView::general;
  }
  const RoundBest parallax = from_parallax(team, options, pair, scales, threshold, plane);
  if (is_cost(parallax.cost())) {
    const CostScale scale = cost_scale(scales, threshold);
    Model model{converted<double>(parallax.f), team.score(parallax.f, scale)};
    if (options.optimise) optimise(model);
    if (model.score.cost < team.score(converted<float>(search.best.f), scale).cost) {
      search.best = {model.f, team.score(converted<float>(model.f))};
    }
    counts = count();
  }
  const double least = least_off_plane(counts.points_off, counts.inliers_on);
  return counts.inliers_off < least ? TwoView::planar : TwoView::general;
}

}  // namespace cornea::geometry
