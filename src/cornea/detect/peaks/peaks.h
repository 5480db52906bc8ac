// SPDX-License-Identifier: Apache-2.0
// From a response map to points: threshold, non-maximum suppression, subpixel fit, minimum
// distance, caps.
//
// A pixel is a peak if its response exceeds the threshold and no pixel of the k x k square around
// it (as far as that lies in the image) is larger. Ties within a square keep the first in reading
// order, or all, according to `plateaus`. A peak must lie in the region that the
// detector declares, where the mask is not 0; pixels outside still suppress their neighbours. Then
// points too close to a stronger one are dropped (as in cv::goodFeaturesToTrack), then the
// strongest of every grid cell are kept, then the strongest of all, with ties broken by (y, x).
// Points are returned in reading order: by y, then x, of their pixel.
//
// Cost: one pass over the map (two with a relative threshold). The CPU and CUDA give the same
// bytes: comparisons are exact and the fit is one formula.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"

namespace cornea {

enum class Plateaus {
  first,  // ties keep the first in reading order
  all     // ties are all kept
};

enum class Subpixel {
  none,       // the centre of the pixel
  quadratic,  // the maximum of a quadratic fit to the 3 x 3 responses
  gradient    // the point on which the image gradients around it agree (detect/refine)
};

struct CORNEA_API PeakOptions {
  double threshold = 0;   // a peak's response is above this, in the detector's units, or ...
  bool relative = false;  // ... above this share of the strongest response, in [0, 1)
  int nms = 3;            // side of the suppression square, pixels, odd; 1: none
  Plateaus plateaus = Plateaus::first;
  Subpixel subpixel = Subpixel::none;
  int subpixel_radius = 4;  // radius of the square of gradients, pixels, 1 to 15
  // Minimum distance between the points that are returned, pixels; 0: none beyond `nms`. Points
  // refined by gradients are always at least 1 pixel apart, so that no corner is returned twice.
  double min_distance = 0;
  int max_points = 0;    // keep the strongest of all; 0: no limit
  int cell = 0;          // side of a grid cell, pixels; 0: no grid
  int max_per_cell = 0;  // keep the strongest per cell; needs `cell`

  void validate() const;
};

// Finds the peaks of any float or double map on the host. Where the mask, if there is one, is 0
// there are no peaks. Refinement by gradients needs the image: see refine_corners().
template <class R>
CORNEA_API std::vector<Corner> find_peaks(const Context& context, HostView<const R> map,
                                          const PeakOptions& options,
                                          HostView<const std::uint8_t> mask = {});

}  // namespace cornea
