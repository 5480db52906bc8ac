// Pixel conversions that both devices share.
#pragma once

#include <cstdint>

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

// Float pixels beyond this would overflow in products of derivatives.
inline constexpr float kLargestPixel = 1e6f;
inline constexpr char kUnusable[] =
    "the image holds NaN, infinite values or values beyond 1e6; replace them, or scale it to 0..1";
CORNEA_HD inline bool is_usable(float v) { return v >= -kLargestPixel && v <= kLargestPixel; }

// Whether a float image (gray or colour) on the host can be used.
bool all_usable(const Context& context, const AnyView& image);
// The same on the device, queued: sets *flag (device or pinned memory) to 1 if a value is not
// usable, and leaves it alone otherwise.
void flag_unusable(const Context& context, const AnyView& image, int* flag);

// Inside of convert() and flag_unusable(), in builds with CUDA.
void convert_on_device(const Context& context, const AnyView& from, Working working,
                       const AnyTarget& to);

}  // namespace cornea::core
