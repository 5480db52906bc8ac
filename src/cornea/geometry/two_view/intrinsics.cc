// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/intrinsics.h"

#include <cmath>

#include "cornea/core/error.h"

namespace cornea {
namespace {

// The distorted position of an undistorted one, and its derivatives.
struct Distorted {
  double x, y;
  double xx, xy, yy;  // dx/dx, dx/dy = dy/dx, dy/dy

  // Whether the distortion is locally invertible and preserves orientation (positive definite
  // derivative).
  bool is_regular() const { return xx * yy - xy * xy > 0 && xx + yy > 0; }
};

Distorted distort(const Intrinsics& c, double x, double y) {
  const double r2 = x * x + y * y;
  const double radial = 1 + r2 * (c.k1 + c.k2 * r2);
  const double slope = 2 * (c.k1 + 2 * c.k2 * r2);  // of `radial`, times x or y
  return {x * radial + 2 * c.p1 * x * y + c.p2 * (r2 + 2 * x * x),
          y * radial + c.p1 * (r2 + 2 * y * y) + 2 * c.p2 * x * y,
          radial + slope * x * x + 2 * c.p1 * y + 6 * c.p2 * x,
          slope * x * y + 2 * c.p1 * x + 2 * c.p2 * y,
          radial + slope * y * y + 6 * c.p1 * y + 2 * c.p2 * x};
}

// Whether the distortion does not fold between the centre and a position: beyond a fold, other
// positions have the same pixel.
bool is_within_folds(const Intrinsics& c, double x, double y) {
  constexpr int kSteps = 32;
  for (int i = 1; i <= kSteps; ++i) {
    if (!distort(c, x * i / kSteps, y * i / kSteps).is_regular()) return false;
  }
  return true;
}

}  // namespace

void Intrinsics::validate() const {
  auto finite = [](const char* name, double value) {
    require(std::isfinite(value), name, " is ", value, "; give a finite number");
  };
  auto focal = [&](const char* name, double value) {
    finite(name, value);
    require(value > 0, name, " is ", value, "; a focal length is a positive number of pixels");
  };
  focal("fx", fx);
  focal("fy", fy);
  finite("cx", cx);
  finite("cy", cy);
  finite("k1", k1);
  finite("k2", k2);
  finite("p1", p1);
  finite("p2", p2);
}

std::array<double, 2> Intrinsics::pixel(double x, double y) const {
  const Distorted d = distort(*this, x, y);
  return {fx * d.x + cx, fy * d.y + cy};
}

std::optional<std::array<double, 2>> Intrinsics::place(double u, double v) const {
  const double wanted_x = (u - cx) / fx, wanted_y = (v - cy) / fy;
  if (!is_distorted()) return std::array{wanted_x, wanted_y};
  // Half of the promised accuracy, plus the rounding error of pixel(), which grows with the
  // coordinates.
  const double last_bits = 4e-16 * (std::abs(u) + std::abs(v) + std::abs(cx) + std::abs(cy));
  const double close = 5e-10 + last_bits;
  constexpr int kIterations = 50, kHalvings = 30;
  double x = wanted_x, y = wanted_y;
  Distorted at = distort(*this, x, y);
  auto miss = [&](const Distorted& d) {
    return std::hypot(fx * (d.x - wanted_x), fy * (d.y - wanted_y));
  };
  // If the distorted position itself lies beyond a fold, the start is moved towards the centre.
  for (int i = 0; i < kHalvings && !at.is_regular(); ++i) {
    x /= 2, y /= 2;
    at = distort(*this, x, y);
  }
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const double before = miss(at);
    if (!std::isfinite(before)) return std::nullopt;
    if (before <= close) {
      if (!is_within_folds(*this, x, y)) return std::nullopt;
      return std::array{x, y};
    }
    // Newton's step, halved until it reduces the error and stays where the distortion is
    // invertible.
    const double determinant = at.xx * at.yy - at.xy * at.xy;
    const double ex = wanted_x - at.x, ey = wanted_y - at.y;
    double dx = (at.yy * ex - at.xy * ey) / determinant;
    double dy = (at.xx * ey - at.xy * ex) / determinant;
    bool nearer = false;
    for (int i = 0; i < kHalvings && !nearer; ++i) {
      const Distorted trial = distort(*this, x + dx, y + dy);
      nearer = trial.is_regular() && miss(trial) < before;
      if (nearer) {
        x += dx, y += dy;
        at = trial;
      }
      dx /= 2, dy /= 2;
    }
    if (!nearer) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace cornea
