// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/pixel_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "cornea/core/error.h"
#include "cornea/io/convert.h"

namespace cornea {

void PixelRange::validate() const {
  if (kind != Kind::given) return;
  require(std::isfinite(low) && std::isfinite(high) && low < high,
          "a pixel range needs finite values with low < high, not ", low, " to ", high);
}

namespace io {
namespace {

// The largest value of 12-bit pixels in 16-bit files, and the factor that spreads them.
constexpr int kTwelveBits = 4095, kFactor = 16;

template <class T, class F>
void each_channel(Image<T>& image, const F& f) {
  using Channel = typename ColourOf<T>::Channel;
  constexpr int kPer = ColourOf<T>::is_rgb ? 3 : 1;
  for (int y = 0; y < image.height(); ++y) {
    auto* row = reinterpret_cast<Channel*>(image.host().row(y));
    for (int i = 0; i < image.width() * kPer; ++i) f(row[i]);
  }
}

template <class Channel>
Channel spread_value(Channel v, double low, double high) {
  const double share = (double(v) - low) / (high - low);
  if constexpr (std::is_same_v<Channel, float>) {
    // NaN stays NaN, so that a later stage can reject it.
    return static_cast<float>(share < 0 ? 0.0 : share > 1 ? 1.0 : share);
  } else {
    constexpr double kWhite = std::numeric_limits<Channel>::max();
    return static_cast<Channel>(std::clamp(share, 0.0, 1.0) * kWhite + 0.5);
  }
}

}  // namespace

std::optional<std::array<double, 2>> spread(DecodedImage& image, const PixelRange& range) {
  range.validate();
  if (range.kind == PixelRange::Kind::full) return std::nullopt;
  return std::visit(
      [&]<class T>(Image<T>& pixels) -> std::optional<std::array<double, 2>> {
        using Channel = typename ColourOf<T>::Channel;
        if (range.kind == PixelRange::Kind::given) {
          each_channel(pixels, [&](Channel& v) { v = spread_value(v, range.low, range.high); });
          return {{range.low, range.high}};
        }
        if constexpr (std::is_same_v<Channel, std::uint16_t>) {
          Channel most = 0;
          each_channel(pixels, [&](Channel& v) { most = std::max(most, v); });
          if (most == 0 || most > kTwelveBits) return std::nullopt;
          each_channel(pixels, [](Channel& v) { v = static_cast<Channel>(v * kFactor); });
          return {{0, kTwelveBits}};
        }
        return std::nullopt;
      },
      image);
}

}  // namespace io
}  // namespace cornea
