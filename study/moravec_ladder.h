// SPDX-License-Identifier: Apache-2.0
// The original's ladder on CUDA: the same map by ever better kernels. Defined in moravec_ladder.cu,
// in builds with CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"

namespace cornea::study {

struct LadderRung {
  std::string name;
  int threads = 0;  // per block
  // Medians, measured by events on the stream.
  double upload_ms = 0, kernel_ms = 0, download_ms = 0;
  std::vector<std::int32_t> map;  // as downloaded; empty if only coordinates are
  std::vector<Corner> corners;    // for the rung that downloads only coordinates, in reading order
};

// Runs every rung `repeat` times on an image in host memory.
std::vector<LadderRung> moravec_ladder(const Context& cuda, HostView<const std::uint8_t> image,
                                       int repeat);

}  // namespace cornea::study
