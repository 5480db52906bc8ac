// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/levels.h"

#include "cornea/core/parallel.h"

namespace cornea::filter {

void from_levels(const Context& context, HostView<const float> from, const AnyTarget& to) {
  constexpr int kRowsPerPiece = 64;
  with_gray(to.view().pixel(), [&](auto type) {
    const auto pixels = to.host<decltype(type)>();
    core::parallel_for(context, from.height, kRowsPerPiece, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) {
        for (int x = 0; x < from.width; ++x) set_level(pixels(x, y), from(x, y));
      }
    });
  });
}

}  // namespace cornea::filter
