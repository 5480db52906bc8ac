// SPDX-License-Identifier: Apache-2.0
// Bilateral filter: a mean over a square window in which neighbours are weighted by their distance
// and by the difference of their values,
//
//   out = I + sum D w / sum w, D(m, n) = I(x + m, y + n) - I(x, y), |m|, |n| <= radius
//   w = exp(-(m^2 + n^2) / (2 sigma^2)) exp(-D^2 / (2 sigma_range^2))
//
// Neighbours outside the image are skipped. Weights are computed (relative error: at most 1e-4),
// not looked up in a table.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/filter/image_filter.h"

namespace cornea {

// How weights are computed. `exact` uses a fixed sequence of operations, so that every processor
// and every GPU gives the same bits; `fast` uses the GPU's own exponential instruction, whose last
// digits differ between devices. On the CPU both are the same.
enum class Exponential { exact, fast };

struct CORNEA_API BilateralOptions {
  double sigma = 4;         // spatial sigma, pixels
  double sigma_range = 20;  // range sigma, gray levels of 0..255
  int radius = 0;           // of the window, pixels; 0: ceil(3 sigma)
  Exponential exponential = Exponential::exact;

  void validate() const;
  int window_radius() const;  // `radius`, or the default if it is 0
};

class CORNEA_API BilateralFilter : public ImageFilter {
 public:
  explicit BilateralFilter(const Context& context, const BilateralOptions& options = {});
};

}  // namespace cornea
