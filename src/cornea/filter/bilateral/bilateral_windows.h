// SPDX-License-Identifier: Apache-2.0
// The bilateral filter on floats, for its own filter and for SIFT's scale space.
#pragma once

#include <algorithm>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/filter/bilateral/bilateral.h"
#include "cornea/filter/float_filter.h"

namespace cornea::bilateral {

class Windows : public filter::FloatFilter {
 public:
  Windows(const Context& context, const BilateralOptions& options);

  void run(HostView<const float> image, HostView<float> out, float unit,
           core::StageClock& clock) override;
  void enqueue(DeviceView<const float> first, DeviceView<float> first_out, int images, float unit,
               core::StageClock& clock) override;

 private:
  void enqueue_windows(DeviceView<const float> first, DeviceView<float> first_out, int images,
                       float unit);

  // Limited by the size of the image.
  int radius_of(int width, int height) const { return std::min(radius_, std::max(width, height)); }
  // Rows per piece of work on the CPU. A pair of pixels spans at most two pieces, so its weight
  // reaches only the next piece; the sum of a pixel consists of the parts from its own piece and
  // the one before. CUDA adds the same parts, so that both must call it with the same radius.
  static int rows_per_piece(int radius) { return std::max(32, radius); }

  BilateralOptions options_;
  int radius_ = 0;
  core::Buffer scaled_{Place::device, "bilateral: scaled image"};
};

}  // namespace cornea::bilateral
