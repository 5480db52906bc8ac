// What the CPU and CUDA share of the corner refinement.
#pragma once

#include <cmath>

#include "cornea/core/features.h"
#include "cornea/core/host_device.h"
#include "cornea/core/pixels.h"
#include "cornea/detect/refine/refine.h"

namespace cornea::refine {

inline constexpr int kLargestRefineRadius = 15;

inline constexpr int kRefineParts = 32;       // interleaved parts of a sum
inline constexpr int kRefineTurns = 20;       // at most
inline constexpr double kRefineStop = 0.005;  // pixels: a turn that moves less is the last

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

// The image around a point: whole pixels away from it the fractions are the same for all.
struct PatchOrigin {
  int x, y;                  // the pixel left of and above the point
  float w00, w10, w01, w11;  // bilinear weights
};

CORNEA_HD inline PatchOrigin patch_origin(double x, double y) {
  const double left = floor(x), top = floor(y);
  const float fx = static_cast<float>(x - left), fy = static_cast<float>(y - top);
  return {static_cast<int>(left), static_cast<int>(top), (1 - fx) * (1 - fy),
          fx * (1 - fy),          (1 - fx) * fy,         fx * fy};
}

// The image (i, j) pixels from the point, on the 0..255 scale; the border pixels are repeated.
template <class View>
CORNEA_HD inline float patch_value(const View& image, const PatchOrigin& o, int i, int j) {
  auto inside = [](int v, int n) { return v < 0 ? 0 : v >= n ? n - 1 : v; };
  const int x0 = inside(o.x + i, image.width), x1 = inside(o.x + i + 1, image.width);
  const auto* above = image.row(inside(o.y + j, image.height));
  const auto* below = image.row(inside(o.y + j + 1, image.height));
  return o.w00 * core::gray_level(above[x0]) + o.w10 * core::gray_level(above[x1]) +
         o.w01 * core::gray_level(below[x0]) + o.w11 * core::gray_level(below[x1]);
}

// The five sums of the equation; one part, or all of them.
struct RefineSums {
  float xx = 0, xy = 0, yy = 0, bx = 0, by = 0;
};

CORNEA_HD inline void add_tap(RefineSums& s, float gx, float gy, float weight, int i, int j) {
  const float xx = weight * (gx * gx), xy = weight * (gx * gy), yy = weight * (gy * gy);
  s.xx += xx;
  s.xy += xy;
  s.yy += yy;
  s.bx += xx * i + xy * j;
  s.by += xy * i + yy * j;
}

// Solves for the step from the point to the corner; false where the gradients have one direction.
CORNEA_HD inline bool refine_step(const RefineSums& s, double& dx, double& dy) {
  const double xx = s.xx, xy = s.xy, yy = s.yy;
  const double determinant = xx * yy - xy * xy, trace = xx + yy;
  if (!(determinant > 1e-6 * trace * trace)) return false;
  dx = (yy * s.bx - xy * s.by) / determinant;
  dy = (xx * s.by - xy * s.bx) / determinant;
  return true;
}

// Where the corner ends up after the point has moved from (x0, y0) to (x, y).
CORNEA_HD inline void accept_refined(double x0, double y0, double x, double y, int radius,
                                     int width, int height, Corner& corner) {
  const bool near_by = fabs(x - x0) <= radius && fabs(y - y0) <= radius;
  if (!near_by || !(x >= 0 && y >= 0 && x <= width - 1 && y <= height - 1)) return;
  corner.x = static_cast<float>(x);
  corner.y = static_cast<float>(y);
}

}  // namespace cornea::refine
