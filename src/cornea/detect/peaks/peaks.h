// From a response map to points: threshold, non-maximum suppression, caps, subpixel fit.
//
// A pixel is a peak if its response exceeds the threshold and no pixel of the k x k square around
// it (as far as that lies in the image) is larger. Of equal pixels in one square the first in
// reading order is kept, or all of them, as `plateaus` says. A peak must lie in the region that the
// detector declares and where the mask is not zero; pixels outside still suppress their neighbours.
// Then the strongest of every grid cell are kept, then the strongest of all, ties by (y, x). Points
// come in reading order: by y, then x, of their pixel.
//
// Cost: one pass over the map (two with a relative threshold). The CPU and CUDA give the same
// bytes: comparisons are exact and the fit is one formula (peaks_math.h).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"

namespace cornea {

enum class Plateaus {
  first,  // of equal neighbours the first in reading order
  all     // every one of them
};

enum class Subpixel {
  none,       // the pixel's own centre
  quadratic,  // the top of a quadratic through the 3 x 3 responses around it
  gradient    // the point that the image's gradients around it agree on (detect/refine)
};

struct PeakOptions {
  double threshold = 0;   // a peak's response is above this, in the detector's units, or ...
  bool relative = false;  // ... above this share of the strongest response, in [0, 1)
  int nms = 3;            // side of the suppression square, pixels, odd; 1: none
  Plateaus plateaus = Plateaus::first;
  Subpixel subpixel = Subpixel::none;
  int subpixel_radius = 4;  // of the square in which gradients are gathered, pixels, 1 to 15
  int max_points = 0;       // keep the strongest of all; 0: no limit
  int cell = 0;             // side of a grid cell, pixels; 0: no grid
  int max_per_cell = 0;     // keep the strongest of each cell; needs `cell`

  void validate() const;
};

// Pixels left <= x < right, top <= y < bottom.
struct Region {
  int left = 0, top = 0, right = 0, bottom = 0;
  bool empty() const { return left >= right || top >= bottom; }
};

// Pixels at the left and top, and at the right and bottom.
struct Margin {
  int before = 0, after = 0;
  constexpr Margin(int both) : before(both), after(both) {}
  constexpr Margin(int left_and_top, int right_and_bottom)
      : before(left_and_top), after(right_and_bottom) {}
};

// The image less a margin on each side.
Region inside_margin(int width, int height, Margin margin);

// An error where a region that is not empty leaves the map.
void check_region(const Region& region, int width, int height);

struct PixelAt {
  int x = 0, y = 0;
};

// A further test between suppression and the caps: removes the peaks that do not pass and leaves
// the others in their order. `cutoff` is what a peak exceeds, in the map's own units.
using PeakTest = std::function<void(double cutoff, std::vector<PixelAt>& peaks)>;

// Peaks of a float or double map on the host. `unit` is the map's value of response 1: thresholds
// are multiplied by it, reported responses divided. `mask` may be empty. A refinement by gradients
// needs the image and is not made here.
template <class R>
std::vector<Corner> find_peaks(const Context& context, HostView<const R> map, Region region,
                               HostView<const std::uint8_t> mask, const PeakOptions& options,
                               double unit = 1, const PeakTest& test = {});

}  // namespace cornea
