// SIFT's steps on the CPU.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/frames.h"
#include "cornea/core/image.h"
#include "cornea/describe/sift/sift_shape.h"
#include "cornea/filter/float_filter.h"

namespace cornea::sift {

// The scale space of one image.
class HostScaleSpace {
 public:
  HostScaleSpace(const Context& context, const SiftOptions& options);

  // Pixels as floats of 0..1; an error where float ones cannot be used.
  void build(AnyView image, const SiftShape& shape);

  const SiftShape& shape() const { return shape_; }
  HostView<const float> level(int octave, int level) const;

 private:
  HostView<float> level_to_write(int octave, int level);
  void filter(HostView<const float> from, HostView<float> to, int level);

  Context context_;
  SiftOptions options_;
  core::Frames frames_;
  core::StageClock untimed_;  // of the filters
  SiftShape shape_;
  std::vector<std::unique_ptr<filter::FloatFilter>> filters_;  // by level; none for the Gaussian
  core::Buffer floats_{Place::host, "sift: scale space"};
};

// The points of an octave, ordered by level, y and x.
std::vector<SiftPoint> find_points(const Context& context, const HostScaleSpace& space, int octave,
                                   const SiftLimits& limits);

// The turns of a point's peaks, the highest first; at most `most`. Returns how many.
int find_angles(HostView<const float> level, const SiftPoint& point, int most,
                std::array<float, kMostAngles>& turns);

// A point's descriptor, kDescriptorLength bytes.
void describe_point(HostView<const float> level, const SiftPoint& point, float turn, bool root,
                    std::uint8_t* descriptor);

}  // namespace cornea::sift
