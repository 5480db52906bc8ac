// SPDX-License-Identifier: Apache-2.0
// Matches that say nothing of the scene: a watermark, a time stamp or a frame that was printed on
// both photographs moves from one to the other by a translation, and lies near the border.
//
// Both of COLMAP's conditions must hold (estimators/two_view_geometry.cc): of the inliers at least
// `share` lie near the border in both images, and at least `share` are within `distance` of one
// common translation. COLMAP draws translations at random; here the translation is the median of
// all, moved to the mean of those near it until it rests. As more than half of the inliers are to
// move alike, the median lies among these in both coordinates.
#pragma once

#include <span>

#include "cornea/core/export.h"
#include "cornea/core/features.h"

namespace cornea {

struct CORNEA_API WatermarkOptions {
  double border = 0.1;  // its width, as a share of the image's diagonal
  double share = 0.7;   // of the inliers, more than 0.5
  double distance = 4;  // pixels

  void validate() const;
};

// Width and height of an image, pixels.
struct CORNEA_API ImageExtent {
  int width = 0, height = 0;
};

// Of no inliers: false.
CORNEA_API bool is_watermark(std::span<const Correspondence> inliers, const ImageExtent& first,
                             const ImageExtent& second, const WatermarkOptions& options = {});

}  // namespace cornea
