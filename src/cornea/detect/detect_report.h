// What a call of a detector learned on the way.
#pragma once

#include <cstddef>
#include <vector>

#include "cornea/core/stage_time.h"

namespace cornea {

struct DetectReport {
  int width = 0, height = 0, frames = 0;
  std::size_t points = 0;              // of all frames
  std::size_t between_pixels = 0;      // of these; the subpixel fit left the others at their pixel
  double milliseconds = 0;             // the whole call, on the host's clock
  std::vector<StageTime> stages = {};  // if asked for; upload, response, peaks, refinement,
                                       // download, or the detector's own
};

}  // namespace cornea
