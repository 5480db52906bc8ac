// SPDX-License-Identifier: Apache-2.0
// Internal to io: conversions between pixel types, shared by all formats for reading and writing.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cornea/core/image.h"
#include "cornea/core/pixels.h"

namespace cornea::io {

template <class T>
struct ColourOf {
  static constexpr bool is_rgb = false;
  using Channel = T;
};
template <class T>
struct ColourOf<Rgb<T>> {
  static constexpr bool is_rgb = true;
  using Channel = T;
};

// 0..1 to 0..255, rounded. Values outside are clamped, NaN becomes 0.
inline std::uint8_t u8_from_unit(float v) {
  const float clamped = v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f;
  return static_cast<std::uint8_t>(clamped * 255.0f + 0.5f);
}

template <class To, class From>
To with_depth(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (std::is_same_v<To, float>) {
    return static_cast<float>(v) / (std::is_same_v<From, std::uint8_t> ? 255.0f : 65535.0f);
  } else if constexpr (std::is_same_v<From, float>) {
    if constexpr (std::is_same_v<To, std::uint8_t>) {
      return u8_from_unit(v);
    } else {
      return core::u16_from_unit(v > 0.0f ? v : 0.0f);  // NaN becomes 0
    }
  } else if constexpr (std::is_same_v<To, std::uint16_t>) {
    return static_cast<std::uint16_t>(v * 257u);
  } else {
    return core::u8_from_u16(v);
  }
}

template <class To, class From>
To convert_pixel(From p) {
  using Channel = typename ColourOf<To>::Channel;
  if constexpr (ColourOf<To>::is_rgb && ColourOf<From>::is_rgb) {
    return {with_depth<Channel>(p.r), with_depth<Channel>(p.g), with_depth<Channel>(p.b)};
  } else if constexpr (ColourOf<To>::is_rgb) {
    const Channel v = with_depth<Channel>(p);
    return {v, v, v};
  } else if constexpr (ColourOf<From>::is_rgb) {
    return with_depth<To>(core::gray_value(p));
  } else {
    return with_depth<To>(p);
  }
}

template <class To, class From>
Image<To> convert_image(HostView<const From> from) {
  Image<To> image(from.width, from.height);
  const HostView<To> to = image.host();
  for (int y = 0; y < from.height; ++y) {
    const From* in = from.row(y);
    To* out = to.row(y);
    for (int x = 0; x < from.width; ++x) out[x] = convert_pixel<To>(in[x]);
  }
  return image;
}

// Calls f(HostView<const T>) with the view's own pixel type, which is any type that a file can
// hold.
template <class F>
decltype(auto) visit_pixels(const AnyView& view, F&& f) {
  switch (view.pixel()) {
    case Pixel::rgb_u8:
      return f(view.host<Rgb<std::uint8_t>>());
    case Pixel::rgb_u16:
      return f(view.host<Rgb<std::uint16_t>>());
    case Pixel::rgb_f32:
      return f(view.host<Rgb<float>>());
    default:
      return visit_gray(view, f);
  }
}

}  // namespace cornea::io
