// SPDX-License-Identifier: Apache-2.0
// The trilateral filter on CUDA. Everything is queued; no value is read back in between.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/stage_clock.h"
#include "cornea/filter/trilateral/trilateral.h"

namespace cornea::trilateral {

// The order in which threads process the pixels of an image.
struct TrilateralOrder {
  const std::uint32_t* pixels = nullptr;  // y * width + x, image by image; null: memory order
  std::size_t slots = 0;                  // per image
};

class DeviceTrilateral {
 public:
  DeviceTrilateral(const Context& context, const TrilateralOptions& options,
                   const std::vector<int>& reach);

  // Queues the filter for images stacked vertically.
  void enqueue(DeviceView<const float> first, DeviceView<float> first_out, int images,
               core::StageClock& clock);
  // Queues the steps up to the levels. Returns the address of the levels of the first image.
  const std::uint8_t* enqueue_levels(DeviceView<const float> first, int images,
                                     core::StageClock& clock);

 private:
  TrilateralOrder enqueue_order(int width, int height, int images);

  Context context_;
  double sigma_;
  Grouping grouping_;
  bool exact_;
  int reach_radius_ = 0;
  core::Buffer reach_{Place::device, "trilateral: reach of windows"};
  core::Buffer exponents_{Place::device, "trilateral: spatial parts of the weights"};
  core::Buffer extremes_{Place::device, "trilateral: extremes of gradients"};
  core::Buffer gradients_{Place::device, "trilateral: gradients"};
  core::Buffer squares_{Place::device, "trilateral: squared magnitudes"};
  core::Buffer planes_{Place::device, "trilateral: smoothed gradients"};
  core::Buffer scaled_{Place::device, "trilateral: scaled image"};
  core::Buffer levels_{Place::device, "trilateral: levels"};
  core::Buffer order_{Place::device, "trilateral: order of pixels"};
  core::Buffer sort_keys_{Place::device, "trilateral: sorted levels"};
  core::Buffer sort_values_{Place::device, "trilateral: pixels to sort"};
  core::Buffer sort_scratch_{Place::device, "trilateral: scratch of the sort"};
};

}  // namespace cornea::trilateral
