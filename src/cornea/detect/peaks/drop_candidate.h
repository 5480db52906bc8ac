// SPDX-License-Identifier: Apache-2.0
// For .cu files: removes a peak that fails a further test.
#pragma once

#include "cornea/detect/peaks/device_peaks.h"

namespace cornea::peaks {

// Removes a peak. Atomic sums and cleared bits give the same result in any order.
__device__ inline void drop_candidate(const DeviceCandidates& candidates, int frame,
                                      std::uint32_t pixel) {
  const std::uint32_t x = pixel % candidates.width, y = pixel / candidates.width;
  const std::size_t row = std::size_t(frame) * candidates.height + y;
  atomicAnd(&candidates.marks[row * candidates.words_per_row + x / 32], ~(1u << x % 32));
  atomicSub(&candidates.row_counts[row], 1u);
}

}  // namespace cornea::peaks
