// SPDX-License-Identifier: Apache-2.0
// The trilateral filter's last step on the CPU: the weighted mean of differences to a plane.
#pragma once

#include <vector>

#include "cornea/filter/bilateral/range_rows.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea::trilateral {

// The window of the filter: |m| <= reach[|n|] in row n (see window_reach()).
class PlaneWindows {
 public:
  PlaneWindows(double sigma, const std::vector<int>& reach);

  std::vector<int> reach;
  // The spatial parts of E by the distance along x, from -R to R and a little more, and along y.
  const float* of_column() const { return of_column_.data() + centre_; }
  float of_row(int n) const { return bilateral::row_exponent(scale_, n); }

 private:
  int centre_;
  float scale_;
  std::vector<float> of_column_;
};

// The mean difference to a plane through a pixel,
//
//   sum D w / sum w, D(m, n) = I(x + m, y + n) - I(x, y) - a m - b n
//
// over |n| <= half, |m| <= min(half, the reach of row n) inside the image. The image, a, b and the
// result are multiplied by the exponent's scale k_r.
CORNEA_PER_ISA(float, mean_above_plane,
               (const bilateral::PaddedImage& image, const PlaneWindows& windows, int x, int y,
                int half, float a, float b),
               (image, windows, x, y, half, a, b))

}  // namespace cornea::trilateral
