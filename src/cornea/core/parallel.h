// A deterministic parallel loop for the CPU side.
#pragma once

#include <functional>

#include "cornea/core/context.h"

namespace cornea::core {

// Calls body(begin, end) over [0, count) cut into pieces of `grain`, on the context's threads. The
// pieces depend on count and grain alone, never on the number of threads, so that a body that
// writes only what belongs to its piece gives the same bytes on any machine. If bodies throw, the
// error of the first piece that failed is rethrown when no body runs any more.
void parallel_for(const Context& context, int count, int grain,
                  const std::function<void(int begin, int end)>& body);

}  // namespace cornea::core
