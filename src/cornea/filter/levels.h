// Pixels as the floats that filters work on, and back. Colour becomes gray. 8-bit and 16-bit pixels
// become gray levels, 0..255; float pixels stay what they are.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/host_device.h"
#include "cornea/core/image.h"
#include "cornea/core/pixels.h"

namespace cornea {

CORNEA_HD inline float level_of(std::uint8_t v) { return gray_level(v); }
CORNEA_HD inline float level_of(std::uint16_t v) { return gray_level(v); }
CORNEA_HD inline float level_of(float v) { return v; }
template <class T>
CORNEA_HD inline float level_of(const Rgb<T>& v) {
  return level_of(gray_value(v));
}

// Rounded, halves up; what lies outside the type's range is clamped.
CORNEA_HD inline void set_level(std::uint8_t& pixel, float level) {
  pixel = static_cast<std::uint8_t>(level <= 0 ? 0.0f : level >= 255 ? 255.0f : level + 0.5f);
}
CORNEA_HD inline void set_level(std::uint16_t& pixel, float level) {
  const float v = level * 257.0f;
  pixel = static_cast<std::uint16_t>(v <= 0 ? 0.0f : v >= 65535 ? 65535.0f : v + 0.5f);
}
CORNEA_HD inline void set_level(float& pixel, float level) { pixel = level; }

// How much of the working floats a gray level of 0..255 is: float images hold 0..1.
inline float level_unit(Pixel pixel) {
  return channel_of(pixel) == Pixel::f32 ? 1.0f / 255.0f : 1.0f;
}

// Images of one size, on the host with the context's threads, on the device queued.
void to_levels(const Context& context, AnyView from, HostView<float> to);
void from_levels(const Context& context, HostView<const float> from, const AnyTarget& to);
void to_levels(const Context& context, AnyView from, DeviceView<float> to);
void from_levels(const Context& context, DeviceView<const float> from, const AnyTarget& to);

}  // namespace cornea
