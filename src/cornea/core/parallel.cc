#include "cornea/core/parallel.h"

#include <algorithm>
#include <exception>
#include <vector>

#include "cornea/core/error.h"

namespace cornea {

void parallel_for(const Context& context, int count, int grain,
                  const std::function<void(int begin, int end)>& body) {
  require(grain > 0, "parallel_for needs a grain of 1 or more, not ", grain);
  if (count <= 0) return;
  const int pieces = (count - 1) / grain + 1;
  const int threads = std::min(context.threads(), pieces);
  if (threads == 1) {
    for (int piece = 0; piece < pieces; ++piece) {
      body(piece * grain, std::min(count, (piece + 1) * grain));
    }
    return;
  }
  std::vector<std::exception_ptr> errors(pieces);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int piece = 0; piece < pieces; ++piece) {
    try {
      body(piece * grain, std::min(count, (piece + 1) * grain));
    } catch (...) {
      errors[piece] = std::current_exception();
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace cornea
