// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/pixels.h"

#include <algorithm>
#include <atomic>
#include <cmath>
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
  require(from.width() == to.view().width() && from.height() == to.view().height(), "an image of ",
          from.width(), " x ", from.height(), " pixels cannot be converted into one of ",
          to.view().width(), " x ", to.view().height());
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

int worst_value(const Context& context, const AnyView& image, FloatLimits limits) {
  std::atomic<int> worst = 0;
  auto look = [&](auto pixels) {
    parallel_for(context, pixels.height, kRowsPerPiece, [&](int begin, int end) {
      auto usable = [&](const auto& pixel) { return is_usable(gray_value(pixel), limits); };
      unsigned bad = 0;
      for (int y = begin; y < end; ++y) {
        const auto* row = pixels.row(y);
        for (int x = 0; x < pixels.width; ++x) bad |= !usable(row[x]);
      }
      if (!bad) return;
      int here = 0;
      for (int y = begin; y < end; ++y) {
        const auto* row = pixels.row(y);
        for (int x = 0; x < pixels.width; ++x) {
          if (!usable(row[x])) here = std::max(here, badness(gray_value(row[x])));
        }
      }
      for (int known = worst; known < here && !worst.compare_exchange_weak(known, here);) continue;
    });
  };
  is_rgb(image.pixel()) ? look(image.host<Rgb<float>>()) : look(image.host<float>());
  return worst;
}

void fail_unusable(int worst, FloatLimits limits) {
  float value;
  std::memcpy(&value, &worst, sizeof value);
  if (!std::isfinite(value)) {
    fail(ErrorCode::invalid_argument, "the image holds NaN or infinite values; replace them");
  }
  if (limits.high == float_limits(Working::levels).high) {
    fail(ErrorCode::invalid_argument, "the image holds a value of magnitude ", value,
         "; filters accept magnitudes up to 1e6, scale it to 0..1");
  }
  fail(ErrorCode::invalid_argument, "the image holds a value of magnitude ", value,
       ", and float pixels are 0 (black) to 1 (white), no farther than -1 and 2; scale it to 0..1, "
       "or read it with the option range");
}

}  // namespace cornea::core
