// SPDX-License-Identifier: Apache-2.0
// Internals of ImageFilter.
#pragma once

#include <memory>

#include "cornea/core/buffer.h"
#include "cornea/core/frames.h"
#include "cornea/core/stage_clock.h"
#include "cornea/filter/float_filter.h"
#include "cornea/filter/image_filter.h"

namespace cornea {

struct ImageFilter::Inside {
  explicit Inside(std::unique_ptr<filter::FloatFilter> with)
      : filter(std::move(with)),
        context(filter->context()),
        frames(context, core::Working::levels),
        clock(context) {}

  void apply_on_host(const AnyView& image, const AnyTarget& out);
  void enqueue(std::span<const AnyView> images, std::span<const AnyTarget> out, bool may_wait);
  void deliver(DeviceView<const float> result, const AnyTarget& out);
  void wait();

  std::unique_ptr<filter::FloatFilter> filter;
  Context context;
  core::Frames frames;
  core::StageClock clock;
  bool time_stages = false;
  FilterReport report;
  core::Buffer host_result{Place::host, "filter: result"};
  core::Buffer result{Place::device, "filter: result"};
  core::Buffer pixels{Place::device, "filter: result as pixels"};
};

}  // namespace cornea
