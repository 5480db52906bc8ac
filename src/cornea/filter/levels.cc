#include "cornea/filter/levels.h"

#include "cornea/core/parallel.h"

namespace cornea {
namespace {

constexpr int kRowsPerPiece = 64;

}  // namespace

void to_levels(const Context& context, AnyView from, HostView<float> to) {
  auto convert = [&](auto pixels) {
    parallel_for(context, to.height, kRowsPerPiece, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) {
        for (int x = 0; x < to.width; ++x) to(x, y) = level_of(pixels(x, y));
      }
    });
  };
  with_gray(channel_of(from.pixel()), [&](auto type) {
    using T = decltype(type);
    is_rgb(from.pixel()) ? convert(from.host<Rgb<T>>()) : convert(from.host<T>());
  });
}

void from_levels(const Context& context, HostView<const float> from, const AnyTarget& to) {
  with_gray(to.view().pixel(), [&](auto type) {
    const auto pixels = to.host<decltype(type)>();
    parallel_for(context, from.height, kRowsPerPiece, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) {
        for (int x = 0; x < from.width; ++x) set_level(pixels(x, y), from(x, y));
      }
    });
  });
}

}  // namespace cornea
