// SPDX-License-Identifier: Apache-2.0
// The response of Harris and Shi-Tomasi on CUDA.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/ordered_bits.h"
#include "cornea/detect/harris/harris_math.h"

namespace cornea::harris {

// Queues only the response map, for `frames` images stacked vertically, on the context's stream.
// `strongest`, if given, holds one value per frame, which is raised to the largest response of the
// pixels that may be corners.
template <class T>
void enqueue_harris_response(const Context& context, DeviceView<const T> first, int frames,
                             const HarrisFormula& formula, DeviceView<float> first_map,
                             core::OrderedBits<float>* strongest = nullptr);

}  // namespace cornea::harris
