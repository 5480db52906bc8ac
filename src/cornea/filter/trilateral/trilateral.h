// SPDX-License-Identifier: Apache-2.0
// Trilateral filter (P. Choudhury, J. Tumblin, "The trilateral filter for high contrast images and
// meshes", 2003): smooths each pixel towards a local plane, over a window that grows as long as the
// gradients around the pixel agree.
//
//   1. Gradients by forward differences, zero at the far edges; |g| their magnitude.
//      sigma_r = 0.15 (largest |g| - smallest |g|).
//   2. A min-max stack of |g|: level k has the 3 x 3 minima and maxima of level k - 1.
//      A pixel's level is the last before the maximum exceeds |g| + sigma_r or the minimum falls
//      below |g| - sigma_r; there are floor(log2(min(width, height))) + 1 levels.
//   3. The gradients, smoothed by a bilateral filter whose weights come from |g|: A and B.
//   4. out = I + sum D w / sum w over a square of half width 2^level / 2 (integer division), where
//      D(m, n) = I(x + m, y + n) - I(x, y) - A m - B n and
//      w = exp(-(m^2 + n^2) / (2 sigma^2)) exp(-D^2 / (2 sigma_r^2)).
//
// Pixels outside the image are skipped. With sigma_r = 0 the image is returned unchanged.
#pragma once

#include <cstdint>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/image.h"
#include "cornea/filter/bilateral/bilateral.h"
#include "cornea/filter/image_filter.h"

namespace cornea {

// The order in which pixels are filtered. It changes the run time but not the result: window sizes
// differ between pixels, and threads of a warp should have equal ones to avoid divergence.
enum class Grouping {
  none,    // memory order
  sorted,  // by level, the widest windows first
  fastest  // the fastest as measured: sorted on CUDA, none on the CPU
};

struct CORNEA_API TrilateralOptions {
  double sigma = 4;  // spatial sigma, pixels
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
