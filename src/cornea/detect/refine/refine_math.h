// SPDX-License-Identifier: Apache-2.0
// The formulas of the corner refinement that the CPU and CUDA share.
#pragma once

#include <cmath>

#include "cornea/core/features.h"
#include "cornea/core/host_device.h"
#include "cornea/core/pixels.h"
#include "cornea/detect/refine/refine.h"

namespace cornea::refine {

inline constexpr int kLargestRefineRadius = 15;

inline constexpr int kRefineParts = 32;       // interleaved partial sums
inline constexpr int kRefineSteps = 20;       // most iterations
inline constexpr double kRefineStop = 0.005;  // pixels: the iteration ends when a step is shorter

// Conditions on a fit; if one is violated, the point is not moved. The values are the most
// permissive ones that keep all crossings of photographed checkerboards, also after a blur of 1.5
// pixels, while few points on photographs leave the corner that was detected.
inline constexpr double kLeastCondition =
    0.05;                                      // of determinant / trace^2: 27 degrees between edges
inline constexpr double kLargestSpread = 0.4;  // rms distance of gradient lines, in radii
inline constexpr double kLargestMove = 0.75;   // in radii

struct RefineWindow {
  int radius = 4;
  float weight[2 * kLargestRefineRadius + 1] = {};  // exp(-i^2 / r^2), along one axis
};

inline RefineWindow make_refine_window(int radius) {
  RefineWindow window;
  window.radius = radius;
  for (int i = -radius; i <= radius; ++i) {
    window.weight[i + radius] =
        static_cast<float>(std::exp(-double(i) * i / (double(radius) * radius)));
  }
  return window;
}

// Bilinear interpolation around a point: at integer offsets from it the fractions are the same.
struct PatchOrigin {
  int x, y;                  // the pixel to the upper left of the point
  float w00, w10, w01, w11;  // bilinear weights
};

CORNEA_HD inline PatchOrigin patch_origin(double x, double y) {
  const double left = floor(x), top = floor(y);
  const float fx = static_cast<float>(x - left), fy = static_cast<float>(y - top);
  return {static_cast<int>(left), static_cast<int>(top), (1 - fx) * (1 - fy),
          fx * (1 - fy),          (1 - fx) * fy,         fx * fy};
}

// The image value at an offset of (i, j) pixels from the point, on the 0..255 scale; border pixels
// are repeated.
template <class View>
CORNEA_HD inline float patch_value(const View& image, const PatchOrigin& o, int i, int j) {
  auto inside = [](int v, int n) { return v < 0 ? 0 : v >= n ? n - 1 : v; };
  const int x0 = inside(o.x + i, image.width), x1 = inside(o.x + i + 1, image.width);
  const auto* above = image.row(inside(o.y + j, image.height));
  const auto* below = image.row(inside(o.y + j + 1, image.height));
  return o.w00 * core::gray_level(above[x0]) + o.w10 * core::gray_level(above[x1]) +
         o.w01 * core::gray_level(below[x0]) + o.w11 * core::gray_level(below[x1]);
}

// The sums of the equation: one partial sum, or the total.
struct RefineSums {
  float xx = 0, xy = 0, yy = 0, bx = 0, by = 0;
  float c = 0;  // squared distances of the gradient lines from the current point
};

CORNEA_HD inline void add_tap(RefineSums& s, float gx, float gy, float weight, int i, int j) {
  const float xx = weight * (gx * gx), xy = weight * (gx * gy), yy = weight * (gy * gy);
  const float bx = xx * i + xy * j, by = xy * i + yy * j;
  s.xx += xx;
  s.xy += xy;
  s.yy += yy;
  s.bx += bx;
  s.by += by;
  s.c += bx * i + by * j;
}

// The state of the iteration for one point.
struct RefinePath {
  double x, y;            // current position
  double dx = 0, dy = 0;  // the last step
  // Mean squared distance of the gradient lines from the current position, pixels^2.
  double spread2 = 0;

  CORNEA_HD RefinePath(const Corner& corner) : x(corner.x), y(corner.y) {}
  CORNEA_HD bool converged() const { return dx * dx + dy * dy < kRefineStop * kRefineStop; }
};

CORNEA_HD inline bool strayed(const RefinePath& path, const Corner& from, int radius) {
  const double x = path.x - from.x, y = path.y - from.y, most = kLargestMove * radius;
  return !(x * x + y * y <= most * most);
}

// Takes a step. Returns false if the iteration ends: the gradients have one direction, or the point
// has moved too far or converged.
CORNEA_HD inline bool refine_step(const RefineSums& s, const Corner& from, int radius,
                                  RefinePath& path) {
  const double xx = s.xx, xy = s.xy, yy = s.yy;
  const double determinant = xx * yy - xy * xy, trace = xx + yy;
  if (!(determinant > kLeastCondition * trace * trace)) {
    path.dx = path.dy = radius;  // marks it as not converged
    return false;
  }
  path.dx = (yy * s.bx - xy * s.by) / determinant;
  path.dy = (xx * s.by - xy * s.bx) / determinant;
  path.spread2 = (s.c - path.dx * s.bx - path.dy * s.by) / trace;
  path.x += path.dx;
  path.y += path.dy;
  return !strayed(path, from, radius) && !path.converged();
}

// Moves the corner to the refined position if the fit is accepted.
CORNEA_HD inline void accept_refined(const RefinePath& path, int radius, int width, int height,
                                     Corner& corner) {
  const double most = kLargestSpread * radius;
  if (!path.converged() || strayed(path, corner, radius) || !(path.spread2 <= most * most)) return;
  if (!(path.x >= 0 && path.y >= 0 && path.x <= width - 1 && path.y <= height - 1)) return;
  corner.x = static_cast<float>(path.x);
  corner.y = static_cast<float>(path.y);
}

}  // namespace cornea::refine
