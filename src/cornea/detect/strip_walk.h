// SPDX-License-Identifier: Apache-2.0
// For .cu files: shared by the response kernels whose warps walk down strips of the image, one lane
// per column, with the window's other columns in the neighbouring lanes.
#pragma once

#include <type_traits>
#include <utility>

#include <cuda_runtime.h>

#include "cornea/core/cuda.h"
#include "cornea/core/error.h"
#include "cornea/core/warp.h"

namespace cornea::detect {

inline constexpr int kWarpsPerBlock = 4;
// Rows per walk. Each walk starts with about w rows without output (w is the side of the window),
// so that longer walks waste less; 16 leaves more than 30 warps per multiprocessor at 1920 x 1080.
inline constexpr int kRowsPerWalk = 16;
inline constexpr int kLargestWindowRadius = 7;

// Each warp outputs `outputs` columns; the lanes at its sides only provide columns for the windows.
inline dim3 walk_grid(int width, int height, int outputs, int frames) {
  return dim3(core::divide_up(width, outputs),
              core::divide_up(height, kRowsPerWalk * kWarpsPerBlock), frames);
}
inline dim3 walk_block() { return dim3(core::kWarp, kWarpsPerBlock); }

// Calls launch(std::integral_constant<int, radius>()), so that the radius is a compile-time
// constant.
template <class Launch>
void with_window_radius(int radius, Launch&& launch) {
  const bool known = [&]<int... i>(std::integer_sequence<int, i...>) {
    return ((radius == i + 1 && (launch(std::integral_constant<int, i + 1>()), true)) || ...);
  }
  (std::make_integer_sequence<int, kLargestWindowRadius>());
  if (!known) fail(ErrorCode::internal, "no kernel for a window radius of ", radius);
}

}  // namespace cornea::detect
