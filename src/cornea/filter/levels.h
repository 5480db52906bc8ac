// SPDX-License-Identifier: Apache-2.0
// Converts the floats that filters work on back to pixels: from gray levels of 0..255 for 8-bit and
// 16-bit pixels; float pixels are unchanged.
#pragma once

#include <cstdint>

#include "cornea/core/context.h"
#include "cornea/core/host_device.h"
#include "cornea/core/image.h"

namespace cornea::filter {

// Rounded half up; values outside the type's range are clamped.
CORNEA_HD inline void set_level(std::uint8_t& pixel, float level) {
  pixel = static_cast<std::uint8_t>(level <= 0 ? 0.0f : level >= 255 ? 255.0f : level + 0.5f);
}
CORNEA_HD inline void set_level(std::uint16_t& pixel, float level) {
  const float v = level * 257.0f;
  pixel = static_cast<std::uint16_t>(v <= 0 ? 0.0f : v >= 65535 ? 65535.0f : v + 0.5f);
}
CORNEA_HD inline void set_level(float& pixel, float level) { pixel = level; }

// For images of one size: on the host with the context's threads, on the device queued.
void from_levels(const Context& context, HostView<const float> from, const AnyTarget& to);
void from_levels(const Context& context, DeviceView<const float> from, const AnyTarget& to);

}  // namespace cornea::filter
