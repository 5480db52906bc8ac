// SPDX-License-Identifier: Apache-2.0
// Pixel conversions that both devices share.
#pragma once

#include <cstdint>
#include <cstring>

#include "cornea/core/context.h"
#include "cornea/core/error.h"
#include "cornea/core/host_device.h"
#include "cornea/core/image.h"

namespace cornea::core {

// Calls f with a value of the type of these pixels. Double is a type of maps, not of pixels.
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

// 0..1 to 0..65535, rounded; values outside are clamped.
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

// The pixels that an algorithm works on, made from those it is given. Colour becomes gray, except
// for `stored`.
enum class Working {
  stored,    // unchanged, including colour
  gray,      // at their own depth
  integers,  // float becomes 16-bit
  levels  // float: 8-bit and 16-bit pixels become gray levels of 0..255, float pixels stay as they
          // are
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

// Converts an image to working pixels. Both images lie on the host, where the context's threads
// convert, or both on the device, where the conversion is queued on the context's stream.
void convert(const Context& context, const AnyView& from, Working working, const AnyTarget& to);

// The range of values that float pixels may have. For algorithms with thresholds black is 0 and
// white is 1; a small overshoot, such as resampling causes, is accepted. Farther out a threshold
// would no longer mean the same, and products of many derivatives would overflow a float. Filters
// accept any unit, as long as squared differences cannot overflow.
struct FloatLimits {
  float low, high;
};
constexpr FloatLimits float_limits(Working working) {
  return working == Working::levels ? FloatLimits{-1e6f, 1e6f} : FloatLimits{-1.0f, 2.0f};
}
CORNEA_HD inline bool is_usable(float v, FloatLimits limits) {
  return v >= limits.low && v <= limits.high;
}
// Ranks a value that cannot be used: its bits without the sign, which grow with its magnitude and
// are largest for infinity and NaN.
CORNEA_HD inline int badness(float v) {
  int bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits & 0x7fffffff;
}

// The largest badness() of a float image (gray or colour) on the host; 0 if all values can be used.
int worst_value(const Context& context, const AnyView& image, FloatLimits limits);
// The same on the device, queued: raises *flag (device or pinned memory) to the largest badness()
// and leaves it unchanged if all values can be used.
void flag_unusable(const Context& context, const AnyView& image, FloatLimits limits, int* flag);
// Sets the flag to 0, queued.
void clear_flag(const Context& context, int* flag);
// Throws the error that names the worst value and what to do about it.
[[noreturn]] void fail_unusable(int worst, FloatLimits limits);

// The CUDA part of convert().
void convert_on_device(const Context& context, const AnyView& from, Working working,
                       const AnyTarget& to);

}  // namespace cornea::core
