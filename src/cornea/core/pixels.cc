#include "cornea/core/pixels.h"

#include <atomic>
#include <type_traits>

#include "cornea/core/build.h"
#include "cornea/core/parallel.h"

namespace cornea::core {
namespace {

constexpr int kRowsPerPiece = 64;

template <Working working>
void convert_on_host(const Context& context, const AnyView& from, const AnyTarget& to) {
  with_pixel(from.pixel(), [&](auto pixel) {
    using From = decltype(pixel);
    using To = decltype(working_value<working>(pixel));
    const auto source = from.host<From>();
    const auto target = to.host<To>();
    parallel_for(context, source.height, kRowsPerPiece, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) {
        const From* in = source.row(y);
        To* out = target.row(y);
        for (int x = 0; x < source.width; ++x) out[x] = working_value<working>(in[x]);
      }
    });
  });
}

}  // namespace

Pixel working_pixel(Working working, Pixel pixel) {
  const Pixel gray = channel_of(pixel);
  switch (working) {
    case Working::stored:
      return pixel;
    case Working::gray:
      return gray;
    case Working::integers:
      return gray == Pixel::f32 ? Pixel::u16 : gray;
    case Working::levels:
      return Pixel::f32;
  }
  return pixel;
}

void convert(const Context& context, const AnyView& from, Working working, const AnyTarget& to) {
  require(from.width() == to.view().width() && from.height() == to.view().height(), "images of ",
          from.width(), " x ", from.height(), " and ", to.view().width(), " x ", to.view().height(),
          " pixels do not fit");
  if constexpr (kHasCuda) {
    if (from.on_device()) return convert_on_device(context, from, working, to);
  }
  switch (working) {
    case Working::stored:
      fail(ErrorCode::internal, "pixels as they are stored need no conversion");
    case Working::gray:
      return convert_on_host<Working::gray>(context, from, to);
    case Working::integers:
      return convert_on_host<Working::integers>(context, from, to);
    case Working::levels:
      return convert_on_host<Working::levels>(context, from, to);
  }
}

bool all_usable(const Context& context, const AnyView& image) {
  std::atomic<bool> usable = true;
  auto look = [&](auto pixels) {
    parallel_for(context, pixels.height, kRowsPerPiece, [&](int begin, int end) {
      unsigned bad = 0;
      for (int y = begin; y < end; ++y) {
        const auto* row = pixels.row(y);
        for (int x = 0; x < pixels.width; ++x) bad |= !is_usable(gray_value(row[x]));
      }
      if (bad) usable = false;
    });
  };
  is_rgb(image.pixel()) ? look(image.host<Rgb<float>>()) : look(image.host<float>());
  return usable;
}

}  // namespace cornea::core
