// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/parallel.h"

#include <exception>
#include <vector>

#include "cornea/core/context_state.h"
#include "cornea/core/error.h"

namespace cornea::core {

void parallel_for(const Context& context, int count, int grain,
                  const std::function<void(int begin, int end)>& body) {
  require(grain > 0, "parallel_for needs a grain of 1 or more, not ", grain);
  if (count <= 0) return;
  const int pieces = (count - 1) / grain + 1;
  auto run = [&](int piece) {
    const int begin = piece * grain;
    body(begin, count - begin > grain ? begin + grain : count);
  };
  core::ThreadPool& threads = core::threads_of(context);
  if (pieces == 1 || threads.threads() == 1) {
    for (int piece = 0; piece < pieces; ++piece) run(piece);
    return;
  }
  std::vector<std::exception_ptr> errors(pieces);
  threads.run(pieces, [&](int piece) {
    try {
      run(piece);
    } catch (...) {
      errors[piece] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace cornea::core
