// SPDX-License-Identifier: Apache-2.0
// Recognises matches that contain no information about the scene: a watermark, a time stamp or a
// frame printed on both photographs is shifted by a translation and lies near the border.
//
// Both of COLMAP's conditions must hold (estimators/two_view_geometry.cc): at least `share` of the
// inliers lie near the border in both images, and at least `share` are within `distance` of one
// common translation. COLMAP draws translations at random; here the translation starts as the
// median and is moved to the mean of the shifts near it until it converges (mean shift). More than
// half of the inliers must move alike, so the median lies among these in both coordinates.
#pragma once

#include <span>

#include "cornea/core/export.h"
#include "cornea/core/features.h"

namespace cornea {

struct CORNEA_API WatermarkOptions {
  double border = 0.1;  // its width, as a fraction of the image diagonal
  double share = 0.7;   // fraction of the inliers, more than 0.5
  double distance = 4;  // from the common translation, pixels

  void validate() const;
};

// Width and height of an image, pixels.
struct CORNEA_API ImageExtent {
  int width = 0, height = 0;
};

// False if there are no inliers.
CORNEA_API bool is_watermark(std::span<const Correspondence> inliers, const ImageExtent& first,
                             const ImageExtent& second, const WatermarkOptions& options = {});

}  // namespace cornea
