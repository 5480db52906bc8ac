// SPDX-License-Identifier: Apache-2.0
// The refinement of corners on CUDA.
#pragma once

#include <cstdint>

#include "cornea/core/context.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"

namespace cornea::refine {

// For device images stacked vertically. The corners of frame f are counts[f] entries from corners +
// f * capacity on. Queued on the context's stream.
void enqueue_refine_corners(const Context& context, AnyView first, int frames, int radius,
                            Corner* corners, const std::uint32_t* counts, std::size_t capacity);

}  // namespace cornea::refine
