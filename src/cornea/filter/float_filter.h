// What a filter is to ImageFilter and to SIFT: a function of float images.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/pixels.h"
#include "cornea/core/stage_clock.h"

namespace cornea::filter {

// How much of the working floats a gray level of 0..255 is: float images hold 0..1.
inline float level_unit(Pixel pixel) {
  return channel_of(pixel) == Pixel::f32 ? 1.0f / 255.0f : 1.0f;
}

class FloatFilter {
 public:
  explicit FloatFilter(const Context& context) : context_(context) {}
  virtual ~FloatFilter() = default;

  // Images that do not overlap; `unit` is a gray level of 0..255 in them.
  virtual void run(HostView<const float> image, HostView<float> out, float unit,
                   core::StageClock& clock) = 0;
  // The same for `images` of them that lie one below the other on the device, queued.
  virtual void enqueue(DeviceView<const float> first, DeviceView<float> first_out, int images,
                       float unit, core::StageClock& clock) = 0;

  const Context& context() const { return context_; }

 private:
  Context context_;
};

}  // namespace cornea::filter
