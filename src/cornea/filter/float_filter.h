// SPDX-License-Identifier: Apache-2.0
// The interface of a filter for ImageFilter and SIFT: a function on float images.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/pixels.h"
#include "cornea/core/stage_clock.h"

namespace cornea::filter {

// The size of one gray level (of 0..255) in the working floats: float images hold 0..1.
inline float level_unit(Pixel pixel) {
  return channel_of(pixel) == Pixel::f32 ? 1.0f / 255.0f : 1.0f;
}

class FloatFilter {
 public:
  explicit FloatFilter(const Context& context) : context_(context) {}
  virtual ~FloatFilter() = default;

  // The images must not overlap. `unit` is the size of one gray level of 0..255 in them.
  virtual void run(HostView<const float> image, HostView<float> out, float unit,
                   core::StageClock& clock) = 0;
  // The same for `images` images stacked vertically on the device, queued.
  virtual void enqueue(DeviceView<const float> first, DeviceView<float> first_out, int images,
                       float unit, core::StageClock& clock) = 0;

  const Context& context() const { return context_; }

 private:
  Context context_;
};

}  // namespace cornea::filter
