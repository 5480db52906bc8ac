// The steps after the hypotheses, once for both devices. A `Team` has the points of one pair and
// adds over them: on the CPU a loop, on CUDA a block of threads that all run these functions, each
// with the same numbers.
//
//   team.count()              correspondences
//   team.point(i)             one of them, normalised
//   team.sums<K>(out, f)      K sums of what f(point, terms) writes where it returns true, added in
//                             kSumLanes lanes (i % kSumLanes) and then by halves
//   team.score(f)             cost and inliers of a hypothesis
#pragma once

#include <cmath>
#include <cstdint>

#include "cornea/geometry/fundamental/fundamental_math.h"
#include "cornea/geometry/matrix3.h"
#include "cornea/geometry/symmetric.h"

namespace cornea::geometry {

inline constexpr int kSumLanes = 128;

struct PointPair {
  double x1, y1, x2, y2;
};

struct FloatPoint {
  float x1, y1, x2, y2;
};

struct Score {
  std::uint32_t cost = kNoCost, inliers = 0;
};

struct Model {
  Matrix3<double> f{};
  Score score;
};

// --- Normalisation -------------------------------------------------------------------------------

struct Normalisation {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;  // the means
  Scales scales{};                        // 0 where all points of an image are equal

  CORNEA_HD PointPair operator()(float ax, float ay, float bx, float by) const {
    return {(ax - x1) * scales.first, (ay - y1) * scales.first, (bx - x2) * scales.second,
            (by - y2) * scales.second};
  }
};

// Mean and mean distance of both images' points: of all, then twice of those that lie within kFar
// of the distances of the time before, so that a wild coordinate does not decide. `team` has the
// points in pixels.
template <class Team>
CORNEA_HD Normalisation normalise(Team& team) {
  constexpr double kFar = 4, kRootOfTwo = 1.4142135623730951;
  Normalisation result;
  double reach[2] = {-1, -1};  // none yet
  for (int turn = 0; turn < 3; ++turn) {
    const Normalisation last = result;
    auto near = [&](const PointPair& p) {
      const double ax = p.x1 - last.x1, ay = p.y1 - last.y1;
      const double bx = p.x2 - last.x2, by = p.y2 - last.y2;
      return turn == 0 ||
             (sqrt(ax * ax + ay * ay) <= reach[0] && sqrt(bx * bx + by * by) <= reach[1]);
    };
    double sums[5];
    team.template sums<5>(sums, [&](const PointPair& p, double* terms) {
      terms[0] = 1;
      terms[1] = p.x1;
      terms[2] = p.y1;
      terms[3] = p.x2;
      terms[4] = p.y2;
      return near(p);
    });
    const double n = sums[0];
    if (!(n > 0)) break;
    result.x1 = sums[1] / n, result.y1 = sums[2] / n;
    result.x2 = sums[3] / n, result.y2 = sums[4] / n;
    double lengths[2];
    team.template sums<2>(lengths, [&](const PointPair& p, double* terms) {
      const double ax = p.x1 - result.x1, ay = p.y1 - result.y1;
      const double bx = p.x2 - result.x2, by = p.y2 - result.y2;
      terms[0] = sqrt(ax * ax + ay * ay);
      terms[1] = sqrt(bx * bx + by * by);
      return near(p);
    });
    result.scales.first = lengths[0] > 0 ? kRootOfTwo * n / lengths[0] : 0;
    result.scales.second = lengths[1] > 0 ? kRootOfTwo * n / lengths[1] : 0;
    reach[0] = kFar * lengths[0] / n;
    reach[1] = kFar * lengths[1] / n;
  }
  return result;
}

// --- Inliers ---------------------------------------------------------------------------------

struct InlierTest {
  Matrix3<double> f;
  double r, rr, inverse;
  CORNEA_HD bool operator()(const PointPair& p) const {
    return squared_distance(f, p.x1, p.y1, p.x2, p.y2, r, rr) * inverse < 1;
  }
};
CORNEA_HD inline InlierTest inlier_test(const Matrix3<double>& f, const Scales& scales,
                                        double threshold) {
  const double r = scales.second / scales.first, t = threshold * scales.second;
  return {f, r, r * r, 1 / (t * t)};
}

// --- Least squares -------------------------------------------------------------------------------

CORNEA_HD inline double epipolar_error(const Matrix3<double>& f, const PointPair& p,
                                       Vector3<double>& l2, Vector3<double>& l1) {
  l2 = f * Vector3<double>{p.x1, p.y1, 1};
  l1 = transposed(f) * Vector3<double>{p.x2, p.y2, 1};
  return l2.x * p.x2 + l2.y * p.y2 + l2.z;
}

// A^T W A of the system A f = 0, packed; weight(point) is 0 for points that do not count.
template <class Team, class Weight>
CORNEA_HD void epipolar_system(Team& team, const Weight& weight, double (&m)[packed_size(9)]) {
  team.template sums<packed_size(9)>(m, [&](const PointPair& p, double* terms) {
    const double w = weight(p);
    if (!(w > 0)) return false;
    double row[9];
    epipolar_row(p.x1, p.y1, p.x2, p.y2, row);
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) {
      const double wr = w * row[i];
      CORNEA_UNROLL
      for (int j = 0; j < 9; ++j) {
        if (j <= i) terms[packed(i, j)] = wr * row[j];
      }
    }
    return true;
  });
}

// The eight-point algorithm over the inliers of F, weighted so that the algebraic error becomes
// Sampson's, and falling to 0 towards the threshold.
template <class Team>
CORNEA_HD Matrix3<double> refit(Team& team, const Matrix3<double>& f, const Scales& scales,
                                double threshold) {
  // Weights need not be precise, and floats are fast.
  const Matrix3<float> g = converted<float>(f);
  const CostScale scale = cost_scale(scales, threshold);
  double m[packed_size(9)];
  epipolar_system(
      team,
      [&](const PointPair& p) {
        const auto terms = epipolar_terms(g, float(p.x1), float(p.y1), float(p.x2), float(p.y2));
        const float share = squared_distance(terms, scale.r, scale.rr) * scale.inverse;
        const float inside = 1.0f - share;
        return share < 1.0f ? double(inside * inside / (terms.p * scale.rr + terms.q)) : 0.0;
      },
      m);
  Matrix3<double> next = f;
  constexpr int kTurns = 2;
  smallest_eigenvector<9>(m, next.v, kTurns);
  Vector3<double> left;
  return rank_two(next, left);
}

// Local optimisation: refits with a threshold that narrows, the best of them.
template <class Team>
CORNEA_HD void optimise(Team& team, const Scales& scales, double threshold, Model& model) {
  Matrix3<double> f = model.f;
  constexpr int kRefits = 3;
  constexpr double kWidest = 3;  // thresholds
  for (int i = 0; i < kRefits; ++i) {
    const double width = kWidest - (kWidest - 1) * i / (kRefits - 1);
    f = refit(team, f, scales, width * threshold);
    const Score score = team.score(converted<float>(f));
    if (score.cost < model.score.cost) model = {f, score};
  }
}

// --- Minimisation -----------------------------------------------------------------------------

// F = U diag(1, s, 0) V^T.
struct EpipolarFrame {
  Vector3<double> u[3], v[3];
  double s;
};

CORNEA_HD inline Vector3<double> scaled(const Vector3<double>& a, double k) {
  return {a.x * k, a.y * k, a.z * k};
}
CORNEA_HD inline Vector3<double> sum(const Vector3<double>& a, const Vector3<double>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
CORNEA_HD inline Vector3<double> unit(const Vector3<double>& a) {
  return scaled(a, 1 / sqrt(dot(a, a)));
}

// For an F of rank 2; without iterations.
CORNEA_HD inline EpipolarFrame frame_of(const Matrix3<double>& f) {
  // The right null vector: the longest row of the cofactors.
  const Matrix3<double> c = cofactors(f);
  Vector3<double> null{};
  double longest = -1;
  for (int i = 0; i < 3; ++i) {
    const Vector3<double> row = {c.v[3 * i], c.v[3 * i + 1], c.v[3 * i + 2]};
    if (dot(row, row) > longest) {
      longest = dot(row, row);
      null = row;
    }
  }
  null = unit(null);
  // Two axes across it, and the turn of them that makes their images orthogonal.
  const bool along_x = fabs(null.x) > 0.7;
  const Vector3<double> p =
      unit(cross(null, along_x ? Vector3<double>{0, 1, 0} : Vector3<double>{1, 0, 0}));
  const Vector3<double> q = cross(null, p);
  const Vector3<double> fp = f * p, fq = f * q;
  const double g = dot(fp, fp) - dot(fq, fq), h = 2 * dot(fp, fq);
  const double length = sqrt(g * g + h * h);
  // cos and sin of half the angle of (g, h)
  double cosine = 1, sine = 0;
  if (length > 0) {
    cosine = sqrt((1 + fabs(g) / length) / 2);
    sine = fabs(h) / length / (2 * cosine);
    if (g < 0) {
      const double other = cosine;
      cosine = sine;
      sine = other;
    }
    if (h < 0) sine = -sine;
  }
  EpipolarFrame frame;
  frame.v[0] = sum(scaled(p, cosine), scaled(q, sine));
  frame.v[1] = sum(scaled(q, cosine), scaled(p, -sine));
  frame.v[2] = cross(frame.v[0], frame.v[1]);
  const Vector3<double> a = f * frame.v[0], b = f * frame.v[1];
  frame.u[0] = unit(a);
  frame.u[1] = unit(b);
  frame.u[2] = cross(frame.u[0], frame.u[1]);
  frame.s = sqrt(dot(b, b) / dot(a, a));
  return frame;
}

CORNEA_HD inline Matrix3<double> matrix_of(const EpipolarFrame& e) {
  const Vector3<double>&a = e.u[0], &b = e.u[1], &p = e.v[0], &q = e.v[1];
  const double s = e.s;
  return {{a.x * p.x + s * b.x * q.x, a.x * p.y + s * b.x * q.y, a.x * p.z + s * b.x * q.z,
           a.y * p.x + s * b.y * q.x, a.y * p.y + s * b.y * q.y, a.y * p.z + s * b.y * q.z,
           a.z * p.x + s * b.z * q.x, a.z * p.y + s * b.z * q.y, a.z * p.z + s * b.z * q.z}};
}

// The frame times the rotation of quaternion (1, w/2): a turn by |w|, for a small one.
CORNEA_HD inline void turn(Vector3<double> (&axes)[3], double wx, double wy, double wz) {
  const double x = wx / 2, y = wy / 2, z = wz / 2, n = 1 / (1 + x * x + y * y + z * z);
  const Vector3<double> a = axes[0], b = axes[1], c = axes[2];
  auto mix = [&](double i, double j, double k) {
    return scaled(sum(sum(scaled(a, i), scaled(b, j)), scaled(c, k)), n);
  };
  axes[0] = mix(1 + x * x - y * y - z * z, 2 * (x * y + z), 2 * (x * z - y));
  axes[1] = mix(2 * (x * y - z), 1 - x * x + y * y - z * z, 2 * (y * z + x));
  axes[2] = mix(2 * (x * z + y), 2 * (y * z - x), 1 - x * x - y * y + z * z);
}

inline constexpr int kUnknowns = 7;
inline constexpr int kNormalSums = packed_size(kUnknowns) + kUnknowns + 1;

// The normal equations of Sampson's error r = e / sqrt(|l2|^2 + k |l1|^2) at a frame, under the
// loss z / (1 + z), z = r^2 / width^2 (Geman and McClure), and the loss itself.
template <class Team>
CORNEA_HD void normal_equations(Team& team, const EpipolarFrame& frame, double k, double width,
                                double (&sums)[kNormalSums]) {
  const Matrix3<double> f = matrix_of(frame);
  const double inverse = 1 / (width * width);
  team.template sums<kNormalSums>(sums, [&](const PointPair& p, double* terms) {
    Vector3<double> l2, l1;
    const double e = epipolar_error(f, p, l2, l1);
    const double g = l2.x * l2.x + l2.y * l2.y + k * (l1.x * l1.x + l1.y * l1.y);
    if (!(g > 0)) return false;
    const double norm = 1 / sqrt(g), r = e * norm, z = r * r * inverse;
    const double loss = 1.0f / (1.0f + float(z)), weight = loss * loss;
    // dr for a change u_i v_j^T of F
    double a[3], b[3], c[3], d[3];
    CORNEA_UNROLL
    for (int i = 0; i < 3; ++i) {
      const Vector3<double>&u = frame.u[i], &v = frame.v[i];
      a[i] = u.x * p.x2 + u.y * p.y2 + u.z;
      b[i] = v.x * p.x1 + v.y * p.y1 + v.z;
      c[i] = l2.x * u.x + l2.y * u.y;
      d[i] = k * (l1.x * v.x + l1.y * v.y);
    }
    const double share = r * norm;  // e / g
    auto change = [&](int i, int j) {
      return (a[i] * b[j] - share * (c[i] * b[j] + d[j] * a[i])) * norm;
    };
    const double s = frame.s, d01 = change(0, 1), d10 = change(1, 0);
    const double j[kUnknowns] = {s * change(2, 1), -change(2, 0), d10 - s * d01, s * change(1, 2),
                                 -change(0, 2),    d01 - s * d10, change(1, 1)};
    CORNEA_UNROLL
    for (int i = 0; i < kUnknowns; ++i) {
      const double w = weight * j[i];
      CORNEA_UNROLL
      for (int m = 0; m < kUnknowns; ++m) {
        if (m <= i) terms[packed(i, m)] = w * j[m];
      }
      terms[packed_size(kUnknowns) + i] = w * r;
    }
    terms[kNormalSums - 1] = z * loss;
    return true;
  });
}

// The loss's width in thresholds. A sum of two distances is about 2.8 times Sampson's.
inline constexpr double kLossWidth = 0.25;

// Levenberg and Marquardt.
template <class Team>
CORNEA_HD Matrix3<double> minimise(Team& team, const Matrix3<double>& start, const Scales& scales,
                                   double width) {
  const double r = scales.first / scales.second, k = r * r;
  EpipolarFrame frame = frame_of(start);
  double sums[kNormalSums], trial_sums[kNormalSums];
  normal_equations(team, frame, k, width, sums);
  double damping = 1e-4;
  constexpr int kTurns = 10;
  for (int i = 0; i < kTurns; ++i) {
    double m[packed_size(kUnknowns)], x[kUnknowns];
    CORNEA_UNROLL
    for (int j = 0; j < packed_size(kUnknowns); ++j) m[j] = sums[j];
    double trace = 0;
    CORNEA_UNROLL
    for (int j = 0; j < kUnknowns; ++j) {
      trace += m[packed(j, j)];
      x[j] = -sums[packed_size(kUnknowns) + j];
    }
    CORNEA_UNROLL
    for (int j = 0; j < kUnknowns; ++j) {
      m[packed(j, j)] += damping * m[packed(j, j)] + 1e-12 * trace;
    }
    factorise_symmetric<kUnknowns>(m);
    solve_symmetric<kUnknowns>(m, x);
    EpipolarFrame trial = frame;
    turn(trial.u, x[0], x[1], x[2]);
    turn(trial.v, x[3], x[4], x[5]);
    trial.s += x[6];
    normal_equations(team, trial, k, width, trial_sums);
    const double gain = sums[kNormalSums - 1] - trial_sums[kNormalSums - 1];
    double finite = trial.s;  // a step that is not a number has no loss either
    CORNEA_UNROLL
    for (int j = 0; j < kUnknowns; ++j) finite += x[j];
    if (gain > 0 && finite - finite == 0) {
      const bool settled = gain < 1e-6 * sums[kNormalSums - 1];
      frame = trial;
      CORNEA_UNROLL
      for (int j = 0; j < kNormalSums; ++j) sums[j] = trial_sums[j];
      damping *= 0.1;
      if (settled) break;
    } else {
      damping *= 10;
      if (!(damping < 1e4)) break;
    }
  }
  return matrix_of(frame);
}

}  // namespace cornea::geometry
