// SPDX-License-Identifier: Apache-2.0
// Formulas of the peak search that the CPU and CUDA share.
#pragma once

#include <cfloat>

#include "cornea/core/features.h"
#include "cornea/core/host_device.h"
#include "cornea/core/image.h"
#include "cornea/core/ordered_bits.h"

namespace cornea::peaks {

// A response as a float. A determinant of many derivatives may exceed the range of floats; it is
// then clamped to the largest float.
CORNEA_HD inline float finite_float(double v) {
  constexpr double kMost = FLT_MAX;
  return v >= kMost ? FLT_MAX : v <= -kMost ? -FLT_MAX : static_cast<float>(v);
}

// The value that a peak must exceed, in the map's own units. Under a relative threshold a map
// without a positive value has no peaks.
template <class R>
CORNEA_HD inline R peak_cutoff(double threshold, bool relative, double unit, R strongest) {
  if (!relative) return static_cast<R>(threshold * unit);
  return static_cast<R>(strongest > 0 ? threshold * strongest : 0.0);
}

// True if no pixel of the square is larger than the centre and, if ties keep only the first, no
// earlier pixel is equal. `view` is a host or device view of the map.
template <class View>
CORNEA_HD inline bool is_square_maximum(const View& view, int x, int y, int radius,
                                        bool first_of_equals) {
  const auto centre = view(x, y);
  const int top = y - radius < 0 ? 0 : y - radius;
  const int bottom = y + radius >= view.height ? view.height - 1 : y + radius;
  const int left = x - radius < 0 ? 0 : x - radius;
  const int right = x + radius >= view.width ? view.width - 1 : x + radius;
  for (int j = top; j <= bottom; ++j) {
    const auto* row = view.row(j);
    for (int i = left; i <= right; ++i) {
      const bool earlier = j < y || (j == y && i < x);
      if (row[i] > centre || (first_of_equals && earlier && row[i] == centre)) return false;
    }
  }
  return true;
}

// The corner at a pixel of the map. With `quadratic` its position is the maximum of the
// least-squares quadratic fit to the 3 x 3 responses. It stays at the centre of the pixel if the
// map ends too close, if the quadratic has no maximum, or if the maximum is more than a pixel away.
template <class View>
CORNEA_HD inline Corner corner_at(const View& view, int x, int y, double unit, bool quadratic) {
  Corner corner{static_cast<float>(x), static_cast<float>(y),
                finite_float(static_cast<double>(view(x, y)) / unit)};
  if (!quadratic || x < 1 || y < 1 || x + 1 >= view.width || y + 1 >= view.height) return corner;
  double column[3], row[3];  // sums over the three columns and the three rows
  double v[3][3];
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) v[j][i] = static_cast<double>(view(x + i - 1, y + j - 1));
  }
  for (int i = 0; i < 3; ++i) {
    column[i] = v[0][i] + v[1][i] + v[2][i];
    row[i] = v[i][0] + v[i][1] + v[i][2];
  }
  const double gx = (column[2] - column[0]) / 6, gy = (row[2] - row[0]) / 6;
  const double xx = (column[0] + column[2] - 2 * column[1]) / 3;
  const double yy = (row[0] + row[2] - 2 * row[1]) / 3;
  const double xy = (v[0][0] + v[2][2] - v[0][2] - v[2][0]) / 4;
  const double determinant = xx * yy - xy * xy;
  if (!(determinant > 0) || !(xx < 0)) return corner;
  const double dx = (xy * gy - yy * gx) / determinant;
  const double dy = (xy * gx - xx * gy) / determinant;
  if (!(dx >= -1 && dx <= 1 && dy >= -1 && dy <= 1)) return corner;
  corner.x = static_cast<float>(x + dx);
  corner.y = static_cast<float>(y + dy);
  return corner;
}

}  // namespace cornea::peaks
