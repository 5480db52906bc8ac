// The bilateral filter on floats, for its own filter and for SIFT's scale space.
#pragma once

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

  BilateralOptions options_;
  int radius_ = 0;
};

}  // namespace cornea::bilateral
