// Trilateral filter (P. Choudhury, J. Tumblin, "The trilateral filter for high contrast images and
// meshes", 2003): smooths an image towards a plane of its own at every pixel, over a window as wide
// as the gradients around it agree.
//
//   1. Gradients by forward differences, zero at the far edges; |g| their magnitude.
//      sigma_r = 0.15 (largest |g| - smallest |g|).
//   2. A stack of |g|: level k has the least and the largest of 3 x 3 pixels of level k - 1.
//      A pixel's level is the last before its largest exceeds |g| + sigma_r or its least falls
//      below |g| - sigma_r; there are floor(log2(min(width, height))) + 1 levels.
//   3. The gradients, smoothed by a bilateral filter whose weights come from |g|: A and B.
//   4. out = I + sum D w / sum w over a square of half width 2^level / 2 (whole numbers), where
//      D(m, n) = I(x + m, y + n) - I(x, y) - A m - B n and
//      w = exp(-(m^2 + n^2) / (2 sigma^2)) exp(-D^2 / (2 sigma_r^2)).
//
// Pixels outside the image do not count. With sigma_r = 0 the image comes back as it is.
#pragma once

#include <cstdint>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/image.h"
#include "cornea/filter/bilateral/bilateral.h"
#include "cornea/filter/image_filter.h"

namespace cornea {

// In what order pixels are filtered. It changes the time and not the result: windows differ from
// pixel to pixel, and what works in step should have equal ones.
enum class Grouping {
  none,    // as they lie
  sorted,  // all of one level together, the widest windows first
  fastest  // what was measured to be fastest: sorted on CUDA, none on the CPU
};

struct CORNEA_API TrilateralOptions {
  double sigma = 4;  // of distances, pixels
  Grouping grouping = Grouping::fastest;
  Exponential exponential = Exponential::exact;

  void validate() const;
};

class CORNEA_API TrilateralFilter : public ImageFilter {
 public:
  explicit TrilateralFilter(const Context& context, const TrilateralOptions& options = {});

  // The level of each pixel, in host memory.
  Image<std::uint8_t> level_map(AnyView image);
};

}  // namespace cornea
