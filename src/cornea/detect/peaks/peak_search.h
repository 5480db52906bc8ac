// SPDX-License-Identifier: Apache-2.0
// The peak search on the host, as detectors call it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/detect/peaks/peaks.h"

namespace cornea::peaks {

// Pixels left <= x < right, top <= y < bottom.
struct Region {
  int left = 0, top = 0, right = 0, bottom = 0;
  bool empty() const { return left >= right || top >= bottom; }
};

// Width of the margin at the left and top, and at the right and bottom, pixels.
struct Margin {
  int before = 0, after = 0;
  constexpr Margin(int both) : before(both), after(both) {}
  constexpr Margin(int left_and_top, int right_and_bottom)
      : before(left_and_top), after(right_and_bottom) {}
};

// The image without a margin on each side.
Region inside_margin(int width, int height, Margin margin);

// Throws if a nonempty region extends beyond the map.
void check_region(const Region& region, int width, int height);

struct PixelAt {
  int x = 0, y = 0;
};

// A further test between suppression and the caps: removes the peaks that fail and keeps the others
// in order. `cutoff` is the value that a peak exceeds, in the map's own units.
using PeakTest = std::function<void(double cutoff, std::vector<PixelAt>& peaks)>;

// Moves the points of all remaining peaks before the minimum distance is applied: the refinement by
// gradients.
using PeakMove = std::function<void(std::span<Corner> points)>;

// find_peaks() in a region. `unit` is the map value that corresponds to a response of 1: thresholds
// are multiplied by it, reported responses are divided by it.
template <class R>
std::vector<Corner> search_peaks(const Context& context, HostView<const R> map, Region region,
                                 HostView<const std::uint8_t> mask, const PeakOptions& options,
                                 double unit, const PeakTest& test, const PeakMove& move = {});

}  // namespace cornea::peaks
