// SPDX-License-Identifier: Apache-2.0
// Moravec's response on CUDA.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/ordered_bits.h"

namespace cornea::moravec {

// Queues only the response map, for `frames` images stacked vertically, on the context's stream.
// `strongest`, if given, holds one value per frame, which is raised to the largest response of the
// pixels that may be corners. T: std::uint8_t with R = float, or std::uint16_t with R = double.
template <class T, class R>
void enqueue_moravec_response(const Context& context, DeviceView<const T> first, int frames,
                              int window, DeviceView<R> first_map,
                              core::OrderedBits<R>* strongest = nullptr);

}  // namespace cornea::moravec
