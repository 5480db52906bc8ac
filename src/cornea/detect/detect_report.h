// SPDX-License-Identifier: Apache-2.0
// Statistics of a detector's call.
#pragma once

#include <cstddef>
#include <vector>

#include "cornea/core/stage_time.h"

namespace cornea {

struct DetectReport {
  int width = 0, height = 0, frames = 0;
  std::size_t points = 0;  // over all frames
  // The number of points that are not at the centre of a pixel. For the others the fit was
  // rejected, or its result is the centre.
  std::size_t between_pixels = 0;
  double milliseconds = 0;             // the whole call, wall-clock time
  std::vector<StageTime> stages = {};  // empty unless time_stages(true); upload, response, peaks,
                                       // refinement, download, or the detector's own
};

}  // namespace cornea
