// SPDX-License-Identifier: Apache-2.0
// FOAGDD corners: first-order anisotropic Gaussian directional derivatives at several scales
// (W. Zhang and C. Sun, "Corner detection using multi-directional structure tensor with multiple
// scales", International Journal of Computer Vision 128, 2020).
//
//   u = x cos t + y sin t,  v = -x sin t + y cos t,  t = pi d / n,  d = 0 .. n - 1
//   k(x, y) = -rho u / (2 pi s^2) exp(-(rho u^2 + v^2 / rho) / (2 s)),  x down, y right
//   g_d(p)  = | (image * k)(p) |, a true convolution
//   M(p)    = sum over a disc of 37 pixels around p of g g', an n x n tensor
//   measure = det M / (trace M + 2.22e-16)
//
// A corner has the largest measure of its 5 x 5 square at the first scale (ties are all kept), a
// measure above the threshold at every scale, and lies at least 6 pixels (the side of the square
// and one more) from the top and left edge and 5 from the bottom and right. The image is 0..255 and
// is extended by 7 pixels with its mirror (the edge repeated); beyond that it is zero. Defaults are
// the published ones.
//
// The response is the measure at the first scale. With 8 directions it grows with the 14th power of
// contrast, so that thresholds are easier to choose as powers of ten.
//
// Cost per pixel: about 570 float operations for the derivatives of the first scale and 330 for an
// upper bound of the measure per cell of 2 x 2 pixels. Bounds of single pixels are computed only
// where that bound does not decide, the exact measure (in double) only where those do not, and the
// other scales only around corners of the first. Both devices compute the same derivatives and the
// same exact measures, bit for bit, so that they find the same corners.
#pragma once

#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/detect/corner_detector.h"
#include "cornea/detect/peaks/peaks.h"

namespace cornea {

struct CORNEA_API FoagddOptions {
  int directions = 8;  // n, 4 to 16
  // s, variances in pixels^2, 1 to 5 of them; the first detects, the others confirm.
  std::vector<double> scales = {1.5, 3, 4.5};
  double rho = 1.5;                                   // anisotropy: length to width of the filters
  int lattice = 31;                                   // side of the filters, pixels, odd, 3 to 63
  PeakOptions peaks{.threshold = 251188643.15095824,  // 10^8.4
                    .nms = 5,
                    .plateaus = Plateaus::all};

  void validate() const;
};

class CORNEA_API Foagdd : public CornerDetector {
 public:
  explicit Foagdd(const Context& context, const FoagddOptions& options = {});
};

}  // namespace cornea
