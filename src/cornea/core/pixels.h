// Pixel conversions that both devices share: colour to gray, float to 16 bit.
#pragma once

#include <cstdint>

#include "cornea/core/context.h"
#include "cornea/core/host_device.h"
#include "cornea/core/image.h"

namespace cornea {

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

// 0..1 to 0..65535, rounded; what lies outside is clamped.
CORNEA_HD inline std::uint16_t u16_from_unit(float v) {
  const float clamped = v < 0.0f ? 0.0f : v > 1.0f ? 1.0f : v;
  return static_cast<std::uint16_t>(clamped * 65535.0f + 0.5f);
}
// 0..65535 to 0..255, rounded.
CORNEA_HD inline std::uint8_t u8_from_u16(std::uint16_t v) {
  return static_cast<std::uint8_t>((v * 255u + 32767u) / 65535u);
}

// Any pixel on the 0..255 scale.
CORNEA_HD inline float gray_level(std::uint8_t v) { return static_cast<float>(v); }
CORNEA_HD inline float gray_level(std::uint16_t v) {
  return static_cast<float>(v) * (1.0f / 257.0f);
}
CORNEA_HD inline float gray_level(float v) { return v * 255.0f; }

// Float pixels beyond this would overflow in products of derivatives.
inline constexpr float kLargestPixel = 1e6f;
inline constexpr char kUnusable[] =
    "the image holds NaN, infinite values or values beyond 1e6; replace them, or scale it to 0..1";
CORNEA_HD inline bool is_usable(float v) { return v >= -kLargestPixel && v <= kLargestPixel; }

// On the host, with the context's threads.
template <class T>
void gray_from_rgb(const Context& context, HostView<const Rgb<T>> rgb, HostView<T> gray);
void u16_from_float(const Context& context, HostView<const float> from, HostView<std::uint16_t> to);
bool all_usable(const Context& context, HostView<const float> image);

// On the device, queued on the context's stream.
template <class T>
void gray_from_rgb(const Context& context, DeviceView<const Rgb<T>> rgb, DeviceView<T> gray);
void u16_from_float(const Context& context, DeviceView<const float> from,
                    DeviceView<std::uint16_t> to);
// Sets *flag (device or pinned memory) to 1 if a value is not usable; leaves it alone otherwise.
void flag_unusable(const Context& context, DeviceView<const float> image, int* flag);

}  // namespace cornea
