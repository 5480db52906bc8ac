// SPDX-License-Identifier: Apache-2.0
// The CPU and the CUDA implementation of SIFT; internals of Sift.
#pragma once

#include <memory>
#include <span>

#include "cornea/core/context.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/core/stage_clock.h"
#include "cornea/describe/sift/sift.h"
#include "cornea/describe/sift/sift_shape.h"
#include "cornea/filter/float_filter.h"

namespace cornea::sift {

// The filter that computes a level from the previous one, or level 0 of the first octave from the
// image.
std::unique_ptr<filter::FloatFilter> make_level_filter(const Context& context,
                                                       const SiftOptions& options, int level);

class SiftBackend {
 public:
  virtual ~SiftBackend() = default;
  // Where its steps run: the given context, or one derived from it with its own stream.
  virtual const Context& context() const = 0;
  // The images have been checked. `clock` is null unless stages are timed.
  virtual void detect(std::span<const AnyView> images, AnyView mask, std::span<Features> out,
                      core::StageClock* clock) = 0;
  virtual void describe(AnyView image, std::span<const Keypoint> points, Angles angles,
                        Features& out, core::StageClock* clock) = 0;
  virtual std::size_t memory_needed(const SiftShape& shape, int images) const = 0;
  virtual Image<float> level(int octave, int level) const = 0;
  // See Sift. Null on the CPU.
  virtual void keep_on_device(bool) {}
  virtual const std::uint8_t* device_descriptors() const { return nullptr; }
  virtual DeviceFeatures detect_on_device(AnyView, AnyView, core::StageClock*) { return {}; }
};

// Memory that a part of the scale space may take on the CPU. An image of 1920 x 1080 pixels,
// doubled, still fits into one part.
inline constexpr std::size_t kPartBytes = std::size_t{256} << 20;
std::unique_ptr<SiftBackend> make_host_sift(const Context& context, const SiftOptions& options,
                                            std::size_t part_bytes = kPartBytes);
// Only in builds with CUDA.
std::unique_ptr<SiftBackend> make_device_sift(const Context& context, const SiftOptions& options);

}  // namespace cornea::sift
