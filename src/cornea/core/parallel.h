// SPDX-License-Identifier: Apache-2.0
// A deterministic parallel loop for the CPU side.
#pragma once

#include <functional>

#include "cornea/core/context.h"

namespace cornea::core {

// Splits [0, count) into pieces of `grain` and calls body(begin, end) for each, on the context's
// threads. The pieces depend on count and grain alone, never on the number of threads, so that a
// body that writes only what belongs to its piece gives the same bytes on any machine. If bodies
// throw, the error of the piece with the lowest index is rethrown after all bodies have finished;
// with one thread the later pieces are not run.
void parallel_for(const Context& context, int count, int grain,
                  const std::function<void(int begin, int end)>& body);

}  // namespace cornea::core
