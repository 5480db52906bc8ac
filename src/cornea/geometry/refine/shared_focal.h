// SPDX-License-Identifier: Apache-2.0
// Refinement of E together with one focal length for both views; the code is shared by CPU and
// CUDA. Coordinates are relative to the principal points and divided by a guess of the focal length
// (one per image): F = D E D, D = diag(1, 1, f), where f is the focal length in units of the guess.
#pragma once

#include "cornea/geometry/refine/essential.h"
#include "cornea/geometry/solvers/six_point_focal.h"

namespace cornea::geometry {

// The weight of the guess in units of the loss: that of an observation with a standard deviation of
// about 40%, next to points whose noise matches the width.
inline constexpr double kGuessWeight = 1;

// D m D
CORNEA_HD inline Matrix3<double> with_focal(Matrix3<double> m, double f) {
  m.v[2] *= f, m.v[5] *= f, m.v[6] *= f, m.v[7] *= f, m.v[8] *= f * f;
  return m;
}

// How far F is from belonging to cameras with the focal length `focal`: 0 if the two singular
// values of E are equal, 1 if one of them is 0. The value is
// (a - b)^2 / (a + b)^2, where a and b are the squared singular values.
CORNEA_HD inline double inequality(const Matrix3<double>& f, double focal) {
  const Matrix3<double> e = with_focal(f, 1 / focal);
  double trace = 0, squares = 0;
  CORNEA_UNROLL
  for (int i = 0; i < 3; ++i) {
    CORNEA_UNROLL
    for (int j = 0; j < 3; ++j) {
      const double product = e.v[3 * i] * e.v[3 * j] + e.v[3 * i + 1] * e.v[3 * j + 1] +
                             e.v[3 * i + 2] * e.v[3 * j + 2];  // of E E^T
      if (i == j) trace += product;
      squares += product * product;
    }
  }
  return (2 * squares - trace * trace) / (trace * trace);
}

// The focal length of an F of rank 2: the point of least inequality on a grid, refined by the
// minima of parabolas through it and two neighbours at decreasing distances.
CORNEA_HD inline double focal_of(const Matrix3<double>& f) {
  constexpr double kStep = 1.0442737824274138;  // 2^(1/16)
  constexpr int kPlaces = 65, kParabolas = 6;
  double best = 1 / kMostFocal, least = inequality(f, best);
  double place = best;
  for (int i = 1; i < kPlaces; ++i) {
    place *= kStep;
    const double now = inequality(f, place);
    if (now < least) {
      least = now;
      best = place;
    }
  }
  double width = kStep - 1;
  for (int i = 0; i < kParabolas; ++i) {
    const double below = inequality(f, best * (1 - width)),
                 above = inequality(f, best * (1 + width));
    const double bend = below - 2 * least + above;
    if (!(bend > 0)) break;
    double shift = (below - above) / (2 * bend);  // in units of `width`
    shift = shift < -1 ? -1.0 : shift > 1 ? 1.0 : shift;
    const double next = best * (1 + shift * width), value = inequality(f, next);
    if (value < least) {
      least = value;
      best = next;
    }
    width *= 0.25;
  }
  return best;
}

struct FocalManifold {
  static constexpr int kUnknowns = kPoseUnknowns + 1;
  struct State {
    EpipolarFrame frame;  // of E
    double focal;
  };

  CORNEA_HD static State at(const Matrix3<double>& f) {
    const double focal = focal_of(f);
    return {essential_frame(with_focal(f, 1 / focal)), focal};
  }
  CORNEA_HD static Matrix3<double> matrix(const State& state) {
    return with_focal(matrix_of(state.frame), state.focal);
  }
  // The last unknown is the change of the logarithm of the focal length, to first order.
  CORNEA_HD static State moved(const State& state, const double (&x)[kUnknowns]) {
    const double rotated[kPoseUnknowns] = {x[0], x[1], x[2], x[3], x[4]};
    const double half = x[5] / 2;
    const bool near = half > -0.5 && half < 0.5;
    const double factor = near ? (1 + half) / (1 - half) : half > 0 ? 3.0 : 1.0 / 3.0;
    return {moved_frame(state.frame, rotated), state.focal * factor};
  }

  // dF / d log f
  struct OfFocal {
    static constexpr int kUnknowns = 1;
    double x, y, z, s, t;  // entries 02, 12, 20, 21 of F, and twice entry 22
    CORNEA_HD double operator()(const PointPair& p, const Vector3<double>& l2,
                                const Vector3<double>& l1, double k, double share) const {
      const double error = x * p.x2 + y * p.y2 + z * p.x1 + s * p.y1 + t;
      return error - share * (l2.x * x + l2.y * y + k * (l1.x * z + l1.y * s));
    }
  };
  template <class Team>
  CORNEA_HD static void equations(Team& team, const State& state, double k, double width,
                                  double (&sums)[normal_sums(kUnknowns)]) {
    const Matrix3<double> f = matrix(state);
    // D u and D v replace u and v.
    EpipolarFrame frame = state.frame;
    CORNEA_UNROLL
    for (int i = 0; i < 3; ++i) {
      frame.u[i].z *= state.focal;
      frame.v[i].z *= state.focal;
    }
    pose_equations(team, f, frame, k, width, sums,
                   OfFocal{f.v[2], f.v[5], f.v[6], f.v[7], 2 * f.v[8]});
    // The guess is an observation of the focal length: 2 (f - 1) / (f + 1) approximates log f.
    const double above = state.focal + 1;
    const double log = 2 * (state.focal - 1) / above, slope = 4 * state.focal / (above * above);
    const double weight = kGuessWeight * width * width;
    sums[packed(kPoseUnknowns, kPoseUnknowns)] += weight * slope * slope;
    sums[packed_size(kUnknowns) + kPoseUnknowns] += weight * slope * log;
    sums[normal_sums(kUnknowns) - 1] += kGuessWeight * log * log;
  }
};

}  // namespace cornea::geometry
