// SPDX-License-Identifier: Apache-2.0
// The trilateral filter on floats, for the trilateral filter itself and for SIFT's scale space.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/filter/float_filter.h"
#include "cornea/filter/trilateral/trilateral.h"

namespace cornea::trilateral {

class DeviceTrilateral;

class TrilateralSteps : public filter::FloatFilter {
 public:
  TrilateralSteps(const Context& context, const TrilateralOptions& options);
  ~TrilateralSteps() override;

  void run(HostView<const float> image, HostView<float> out, float unit,
           core::StageClock& clock) override;
  void enqueue(DeviceView<const float> first, DeviceView<float> first_out, int images, float unit,
               core::StageClock& clock) override;

  // The level of each pixel, in host memory. That of a device image is complete once the
  // context has been synchronized.
  Image<std::uint8_t> levels(HostView<const float> image) const;
  Image<std::uint8_t> levels(DeviceView<const float> image);

 private:
  TrilateralOptions options_;
  std::vector<int> reach_;  // of windows: see window_reach()
  std::unique_ptr<DeviceTrilateral> device_;
};

}  // namespace cornea::trilateral
