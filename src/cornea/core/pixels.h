// Pixel conversions that both devices share.
#pragma once

#include <cstdint>
#include <cstring>

#include "cornea/core/context.h"
#include "cornea/core/error.h"
#include "cornea/core/host_device.h"
#include "cornea/core/image.h"

namespace cornea::core {

// Calls f with a value of the type that these pixels have; doubles are no pixels.
template <class F>
decltype(auto) with_pixel(Pixel pixel, F&& f) {
  switch (pixel) {
    case Pixel::rgb_u8:
      return f(Rgb<std::uint8_t>{});
    case Pixel::rgb_u16:
      return f(Rgb<std::uint16_t>{});
    case Pixel::rgb_f32:
      return f(Rgb<float>{});
    default:
      return with_gray(pixel, f);
  }
}

// Gray = 0.299 R + 0.587 G + 0.114 B, rounded for integers, halves up.
CORNEA_HD inline std::uint8_t gray_value(Rgb<std::uint8_t> p) {
  return static_cast<std::uint8_t>((299u * p.r + 587u * p.g + 114u * p.b + 500u) / 1000u);
}
CORNEA_HD inline std::uint16_t gray_value(Rgb<std::uint16_t> p) {
  return static_cast<std::uint16_t>((299u * p.r + 587u * p.g + 114u * p.b + 500u) / 1000u);
}
CORNEA_HD inline float gray_value(Rgb<float> p) {
  return 0.299f * p.r + 0.587f * p.g + 0.114f * p.b;
}
CORNEA_HD inline std::uint8_t gray_value(std::uint8_t v) { return v; }
CORNEA_HD inline std::uint16_t gray_value(std::uint16_t v) { return v; }
CORNEA_HD inline float gray_value(float v) { return v; }

// 0..1 to 0..65535, rounded; what lies outside is clamped.
CORNEA_HD inline std::uint16_t u16_from_unit(float v) {
  const float clamped = v < 0.0f ? 0.0f : v > 1.0f ? 1.0f : v;
  return static_cast<std::uint16_t>(clamped * 65535.0f + 0.5f);
}
// 0..65535 to 0..255, rounded.
CORNEA_HD inline std::uint8_t u8_from_u16(std::uint16_t v) {
  return static_cast<std::uint8_t>((v * 255u + 32767u) / 65535u);
}

// Any gray pixel on the 0..255 scale.
CORNEA_HD inline float gray_level(std::uint8_t v) { return static_cast<float>(v); }
CORNEA_HD inline float gray_level(std::uint16_t v) {
  return static_cast<float>(v) * (1.0f / 257.0f);
}
CORNEA_HD inline float gray_level(float v) { return v * 255.0f; }

// What an algorithm makes of the pixels it is given before it works on them. Colour becomes gray.
enum class Working {
  stored,    // as they are, colour too
  gray,      // at their own depth
  integers,  // float ones become 16-bit
  levels     // floats: 8-bit and 16-bit ones as gray levels of 0..255, float ones as they are
};
Pixel working_pixel(Working working, Pixel pixel);

template <Working working, class T>
CORNEA_HD inline auto working_value(const T& pixel) {
  const auto gray = gray_value(pixel);
  constexpr bool is_float = sizeof(gray) == sizeof(float);
  if constexpr (working == Working::integers && is_float) {
    return u16_from_unit(gray);
  } else if constexpr (working == Working::levels && !is_float) {
    return gray_level(gray);
  } else {
    return gray;
  }
}

// Converts an image into working pixels; both lie on the host, where the context's threads do it,
// or both on the device, where it is queued on the context's stream.
void convert(const Context& context, const AnyView& from, Working working, const AnyTarget& to);

// What float pixels may hold. Black is 0 and white 1 for everything that has thresholds, and a
// little beyond, as resampling leaves it, is welcome: farther out a threshold would mean something
// else, and products of many derivatives leave the range of a float. Filters work in whatever unit
// an image has, as long as squares of differences are far from that.
struct FloatLimits {
  float low, high;
};
constexpr FloatLimits float_limits(Working working) {
  return working == Working::levels ? FloatLimits{-1e6f, 1e6f} : FloatLimits{-1.0f, 2.0f};
}
CORNEA_HD inline bool is_usable(float v, FloatLimits limits) {
  return v >= limits.low && v <= limits.high;
}
// How bad a value is that is not usable, as a number that grows with its magnitude, beyond which
// come infinity and NaN: its bits without the sign.
CORNEA_HD inline int badness(float v) {
  int bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits & 0x7fffffff;
}

// The worst value of a float image (gray or colour) on the host; 0 if all can be used.
int worst_value(const Context& context, const AnyView& image, FloatLimits limits);
// The same on the device, queued: raises *flag (device or pinned memory) to it, and leaves it alone
// where all can be used.
void flag_unusable(const Context& context, const AnyView& image, FloatLimits limits, int* flag);
// The error that says what cannot be used and what to do.
[[noreturn]] void fail_unusable(int worst, FloatLimits limits);

// Inside of convert() and flag_unusable(), in builds with CUDA.
void convert_on_device(const Context& context, const AnyView& from, Working working,
                       const AnyTarget& to);

}  // namespace cornea::core
