// Planes and pure rotations, once for both devices (see fundamental_steps.h for `Team`): the
// homography that explains most inliers of F, F from it and two points off its plane, and whether
// anything off the plane supports F at all (O. Chum, T. Werner, J. Matas, "Two-view geometry
// estimation unaffected by a dominant plane", CVPR 2005).
//
// Beyond sums a team offers
//
//   team.float_point(i)         a correspondence, normalised
//   team.list(f)                remembers the correspondences for which f(point) holds, in order,
//   team.listed(k)              and says which the k-th is; team.list returns how many
//   team.best_of(count, f)      the least of the costs f(h, matrix) for h below count, with the
//                               matrix that it wrote
#pragma once

#include "cornea/geometry/fundamental/search.h"

namespace cornea::geometry {

inline constexpr int kPlaneSamples = 128;     // homographies
inline constexpr int kPlaneJudges = 64;       // most inliers that each is held against
inline constexpr int kParallaxSamples = 256;  // pairs of points off the plane
inline constexpr double kDominance = 0.5;     // share of inliers on a plane that casts doubt on F

// The distance of x2 to H x1 plus r times that of x1 to G x2, squared; G is H's inverse up to a
// factor.
template <class T>
CORNEA_HD inline T squared_transfer(const Matrix3<T>& h, const Matrix3<T>& g, T x1, T y1, T x2,
                                    T y2, T r) {
  const Vector3<T> a = h * Vector3<T>{x1, y1, T(1)}, b = g * Vector3<T>{x2, y2, T(1)};
  const T ax = a.x / a.z - x2, ay = a.y / a.z - y2;
  const T bx = b.x / b.z - x1, by = b.y / b.z - y1;
  const T d = root(ax * ax + ay * ay) + r * root(bx * bx + by * by);
  return d * d;
}
template <class T>
CORNEA_HD inline Matrix3<T> inverse_direction(const Matrix3<T>& m) {
  return transposed(cofactors(m));
}

// x2 ~ H x1 as two rows of a system in the entries of H.
template <class T>
CORNEA_HD inline void transfer_rows(T x1, T y1, T x2, T y2, T* a, T* b) {
  a[0] = x1, a[1] = y1, a[2] = T(1), a[3] = a[4] = a[5] = T(0);
  a[6] = -x2 * x1, a[7] = -x2 * y1, a[8] = -x2;
  b[0] = b[1] = b[2] = T(0), b[3] = x1, b[4] = y1, b[5] = T(1);
  b[6] = -y2 * x1, b[7] = -y2 * y1, b[8] = -y2;
}

// A plane as a model, with what is needed to ask for distances to it.
struct Plane {
  Matrix3<double> h, g;  // and its inverse's direction
  double r, inverse;     // inverse of the squared width, in the second image's units

  CORNEA_HD void set(const Matrix3<double>& homography) {
    h = homography;
    g = inverse_direction(homography);
  }
  CORNEA_HD bool has(const PointPair& p) const {
    return squared_transfer(h, g, p.x1, p.y1, p.x2, p.y2, r) * inverse < 1;
  }
};

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

// The homography of most inliers of F, or of all points where there is no F. Costs as those of F,
// over some of the inliers.
template <class Team>
CORNEA_HD bool find_plane(Team& team, const FundamentalOptions& options, std::uint64_t pair,
                          const Search& search, Plane& plane) {
  const Scales& scales = search.normalisation.scales;
  const InlierTest inlier = inlier_test(search.best.f, scales, options.threshold);
  const bool all = !is_cost(search.best.score.cost);
  const int inliers = team.list([&](const PointPair& p) { return all || inlier(p); });
  if (inliers < 4) return false;
  const int judges = inliers < kPlaneJudges ? inliers : kPlaneJudges;
  const float r = float(plane.r), inverse = float(plane.inverse);
  const RoundBest best = team.best_of(kPlaneSamples, [&](int h, Matrix3<float>& model) {
    std::uint32_t drawn[4];
    draw_sample(options.seed, pair, h, Stream::plane, inliers, 4, drawn);
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

// F = [e]x H, where e is where the lines from H x1 to x2 of two points off the plane meet.
template <class Team>
CORNEA_HD RoundBest from_parallax(Team& team, const FundamentalOptions& options, std::uint64_t pair,
                                  const Plane& plane) {
  const int off = team.list([&](const PointPair& p) { return !plane.has(p); });
  if (off < 2) return {};
  const Matrix3<float> h = converted<float>(plane.h);
  return team.best_of(kParallaxSamples, [&](int hypothesis, Matrix3<float>& model) {
    std::uint32_t drawn[2];
    draw_sample(options.seed, pair, hypothesis, Stream::parallax, off, 2, drawn);
    Vector3<float> line[2];
    CORNEA_UNROLL
    for (int i = 0; i < 2; ++i) {
      const auto p = team.float_point(team.listed(drawn[i]));
      line[i] = cross(h * Vector3<float>{p.x1, p.y1, 1}, Vector3<float>{p.x2, p.y2, 1});
    }
    const Vector3<float> e = cross(line[0], line[1]);
    const float length = sqrtf(dot(e, e));
    if (!(length > 0)) return kNoCost;
    model = cross_matrix(Vector3<float>{e.x / length, e.y / length, e.z / length}) * h;
    return team.cost_alone(model);
  });
}

// Whether the inliers of one image, or all points, lie on a line, to less than a threshold: they
// fix no F then.
template <class Team>
CORNEA_HD bool on_a_line(Team& team, const FundamentalOptions& options, const Search& search,
                         bool all) {
  const Scales& scales = search.normalisation.scales;
  const InlierTest inlier = inlier_test(search.best.f, scales, options.threshold);
  double s[11];
  team.template sums<11>(s, [&](const PointPair& p, double* terms) {
    const double values[11] = {1,    p.x1, p.y1,        p.x1 * p.x1, p.x1 * p.y1, p.y1 * p.y1,
                               p.x2, p.y2, p.x2 * p.x2, p.x2 * p.y2, p.y2 * p.y2};
    CORNEA_UNROLL
    for (int i = 0; i < 11; ++i) terms[i] = values[i];
    return all || inlier(p);
  });
  for (int image = 0; image < 2; ++image) {
    const double* of = s + 1 + 5 * image;
    const double x = of[0] / s[0], y = of[1] / s[0];
    const double xx = of[2] / s[0] - x * x, xy = of[3] / s[0] - x * y, yy = of[4] / s[0] - y * y;
    const double half = (xx - yy) / 2;
    // The smaller eigenvalue of the covariance: the square of the deviation across the line.
    const double across = (xx + yy) / 2 - sqrt(half * half + xy * xy);
    const double width = options.threshold * (image == 0 ? scales.first : scales.second);
    if (across < width * width) return true;
  }
  return false;
}

// What the search's best model is. May replace it by a better one.
template <class Team>
CORNEA_HD TwoView judge(Team& team, const FundamentalOptions& options, std::uint64_t pair,
                        Search& search, Plane& plane) {
  const bool found = is_cost(search.best.score.cost);
  const TwoView nothing = search.fixed ? TwoView::none : TwoView::degenerate;
  const bool sure = found && !is_chance(search.best.score.inliers, team.count());
  if (on_a_line(team, options, search, !sure)) return TwoView::degenerate;
  if (found && !sure) return TwoView::none;
  if (!options.check_plane) return found ? TwoView::general : nothing;
  const Scales& scales = search.normalisation.scales;
  const double t = kPlaneWidth * options.threshold * scales.second;
  plane.r = scales.second / scales.first;
  plane.inverse = 1 / (t * t);
  if (!find_plane(team, options, pair, search, plane)) {
    return found ? TwoView::general : nothing;
  }
  // Inliers of F on the plane and off it, and all points off it.
  auto count = [&](double(&counts)[3]) {
    const InlierTest inlier = inlier_test(search.best.f, scales, options.threshold);
    team.template sums<3>(counts, [&](const PointPair& p, double* terms) {
      const bool on = plane.has(p), in = inlier(p);
      terms[0] = on && in;
      terms[1] = !on && in;
      terms[2] = !on;
      return true;
    });
  };
  double counts[3];
  count(counts);
  if (!found) {  // points that lie on a plane to the last bit fix no F
    const double on = team.count() - counts[2];
    return on >= kLeastSupport && on > kDominance * team.count() ? TwoView::planar : nothing;
  }
  // Four points lie on a plane whatever they are.
  if (counts[0] < kLeastSupport || counts[0] < kDominance * (counts[0] + counts[1])) {
    return TwoView::general;
  }
  const RoundBest parallax = from_parallax(team, options, pair, plane);
  if (is_cost(parallax.cost())) {
    Model model{converted<double>(parallax.f), team.score(parallax.f)};
    if (options.optimise) optimise(team, scales, options.threshold, model);
    if (model.score.cost < search.best.score.cost) search.best = model;
    count(counts);
  }
  // Two points off the plane fit any plane's F, and some of the others by chance; where a pattern
  // repeats, wrong matches feign depth along the motion.
  const double chance = 6 + counts[2] / 50 + counts[0] / 50;
  return counts[1] < chance ? TwoView::planar : TwoView::general;
}

// What a pair's search comes to.
struct Outcome {
  TwoView kind = TwoView::none;
  Matrix3<double> f{};  // of normalised coordinates; 0 where there is none
  Plane plane{};        // of a planar one
  int hypotheses = 0, rounds = 0;
  StopReason stop = StopReason::nothing_to_do;

  CORNEA_HD bool has_f() const {
    double largest = 0;
    for (double v : f.v) largest = fabs(v) > largest ? fabs(v) : largest;
    return largest > 0;
  }
};

// Whether a point is an inlier of an outcome's model.
struct OutcomeTest {
  TwoView kind;
  InlierTest inlier;
  Plane plane;
  CORNEA_HD bool operator()(const PointPair& p) const {
    return kind == TwoView::general ? inlier(p) : kind == TwoView::planar && plane.has(p);
  }
};
CORNEA_HD inline OutcomeTest outcome_test(const Outcome& outcome, const Scales& scales,
                                          double threshold) {
  return {outcome.kind, inlier_test(outcome.f, scales, threshold), outcome.plane};
}

template <class Team>
CORNEA_HD Outcome conclude(Team& team, const FundamentalOptions& options, std::uint64_t pair,
                           Search& search) {
  Outcome outcome;
  outcome.hypotheses = search.hypotheses;
  outcome.rounds = search.rounds;
  outcome.stop = search.stop;
  if (search.hopeless) {
    outcome.kind = TwoView::degenerate;
    return outcome;
  }
  outcome.kind = judge(team, options, pair, search, outcome.plane);
  if (outcome.kind != TwoView::general && outcome.kind != TwoView::planar) return outcome;
  outcome.f = search.best.f;
  if (options.refine && is_cost(search.best.score.cost)) {
    const Scales& scales = search.normalisation.scales;
    const double width = kLossWidth * options.threshold * scales.second;
    const Matrix3<double> f = minimise(team, search.best.f, scales, width);
    // It may leave its basin where the inliers are few.
    const Score score = team.score(converted<float>(f));
    const std::uint32_t before = search.best.score.inliers;
    const bool on_target =
        search.stop != StopReason::target || score.inliers >= std::uint32_t(options.target);
    if (2 * score.inliers > before && on_target) outcome.f = f;
  }
  return outcome;
}

}  // namespace cornea::geometry
