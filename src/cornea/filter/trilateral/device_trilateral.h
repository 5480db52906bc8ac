// The trilateral filter on CUDA. Everything is queued; no number comes to the host on the way.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/filter/trilateral/trilateral.h"

namespace cornea {

// The order in which threads take the pixels of an image.
struct TrilateralOrder {
  const std::uint32_t* pixels = nullptr;  // y * width + x, image by image; null: as they lie
  std::size_t slots = 0;                  // of an image
};

class DeviceTrilateral {
 public:
  DeviceTrilateral(const Context& context, double sigma, const std::vector<int>& reach,
                   Grouping grouping);

  // Queues the filter for images that lie one below the other. `mark` ends a stage of the report.
  void enqueue(DeviceView<const float> first, DeviceView<float> first_out, int images,
               const std::function<void(const char*)>& mark);
  // Queues the steps up to the levels; where those of the first image then lie.
  const std::uint8_t* enqueue_levels(DeviceView<const float> first, int images,
                                     const std::function<void(const char*)>& mark);

 private:
  TrilateralOrder enqueue_order(int width, int height, int images);

  Context context_;
  double sigma_;
  Grouping grouping_;
  int reach_radius_ = 0;
  Buffer reach_{Place::device, "trilateral: reach of windows"};
  Buffer extremes_{Place::device, "trilateral: extremes of gradients"};
  Buffer gradients_{Place::device, "trilateral: gradients"};
  Buffer squares_{Place::device, "trilateral: squared magnitudes"};
  Buffer planes_{Place::device, "trilateral: smoothed gradients"};
  Buffer levels_{Place::device, "trilateral: levels"};
  Buffer order_{Place::device, "trilateral: order of pixels"};
  Buffer sort_keys_{Place::device, "trilateral: sorted levels"};
  Buffer sort_values_{Place::device, "trilateral: pixels to sort"};
  Buffer sort_scratch_{Place::device, "trilateral: scratch of the sort"};
};

}  // namespace cornea
