#include "cornea/core/pixels.h"

#include <atomic>

#include "cornea/core/parallel.h"

namespace cornea {
namespace {

constexpr int kRowsPerPiece = 64;

template <class From, class To, class F>
void transform_rows(const Context& context, HostView<const From> from, HostView<To> to, F f) {
  require(from.width == to.width && from.height == to.height, "images of ", from.width, " x ",
          from.height, " and ", to.width, " x ", to.height, " pixels do not fit");
  parallel_for(context, from.height, kRowsPerPiece, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      const From* in = from.row(y);
      To* out = to.row(y);
      for (int x = 0; x < from.width; ++x) out[x] = f(in[x]);
    }
  });
}

}  // namespace

template <class T>
void gray_from_rgb(const Context& context, HostView<const Rgb<T>> rgb, HostView<T> gray) {
  transform_rows(context, rgb, gray, [](Rgb<T> p) { return gray_value(p); });
}

void u16_from_float(const Context& context, HostView<const float> from,
                    HostView<std::uint16_t> to) {
  transform_rows(context, from, to, [](float v) { return u16_from_unit(v); });
}

bool all_usable(const Context& context, HostView<const float> image) {
  std::atomic<bool> usable = true;
  parallel_for(context, image.height, kRowsPerPiece, [&](int begin, int end) {
    unsigned bad = 0;
    for (int y = begin; y < end; ++y) {
      const float* row = image.row(y);
      for (int x = 0; x < image.width; ++x) bad |= !is_usable(row[x]);
    }
    if (bad) usable = false;
  });
  return usable;
}

template void gray_from_rgb(const Context&, HostView<const Rgb<std::uint8_t>>,
                            HostView<std::uint8_t>);
template void gray_from_rgb(const Context&, HostView<const Rgb<std::uint16_t>>,
                            HostView<std::uint16_t>);
template void gray_from_rgb(const Context&, HostView<const Rgb<float>>, HostView<float>);

}  // namespace cornea
