// SPDX-License-Identifier: Apache-2.0
// Harris and Shi-Tomasi corners (C. Harris and M. Stephens, "A combined corner and edge detector",
// 1988; J. Shi and C. Tomasi, "Good features to track", 1994).
//
//   M(p) = mean over a w x w window around p (or weighted by a Gaussian) of  | Ix Ix  Ix Iy |
//                                                                            | Ix Iy  Iy Iy |
//   Harris:      response = det M - k (trace M)^2
//   Shi-Tomasi:  response = the smaller eigenvalue of M
//
// Ix and Iy are the 3 x 3 Sobel derivatives divided by 4, of gray values 0..1; the image is
// mirrored at its border without repeating the edge. These are cv::cornerHarris and
// cv::cornerMinEigenVal at equal settings (blockSize = window, ksize = 3), to 1e-5 of the largest
// response. A pixel whose support leaves the image is not a corner.
//
// Cost per pixel: two 3 x 3 derivatives and three separable window sums. With 8-bit images and the
// default window every sum is an exact integer; in all cases both devices add in the same order
// without fused operations and give the same bytes.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/detect/corner_detector.h"
#include "cornea/detect/peaks/peaks.h"

namespace cornea {

enum class CornerMeasure { harris, shi_tomasi };
enum class WindowShape { box, gaussian };

struct CORNEA_API HarrisOptions {
  CornerMeasure measure = CornerMeasure::harris;
  int window = 3;  // side of the window, pixels, odd, 3 to 15
  WindowShape shape = WindowShape::box;
  double sigma = 1;  // of the Gaussian window, pixels; not used for a box
  double k = 0.04;   // Harris' constant, in [0, 0.25)
  PeakOptions peaks{.threshold = 0.01, .relative = true};

  void validate() const;
};

class CORNEA_API Harris : public CornerDetector {
 public:
  explicit Harris(const Context& context, const HarrisOptions& options = {});
};

}  // namespace cornea
