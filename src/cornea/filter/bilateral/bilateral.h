// Bilateral filter: a mean over a square window in which neighbours count by their distance and by
// how much their value differs,
//
//   out = I + sum D w / sum w,   D(m, n) = I(x + m, y + n) - I(x, y),   |m|, |n| <= radius
//   w = exp(-(m^2 + n^2) / (2 sigma^2)) exp(-D^2 / (2 sigma_range^2))
//
// Neighbours outside the image do not count. Weights are computed, to 6e-6 of themselves; no table
// stands for them.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/filter/image_filter.h"

namespace cornea {

// How weights are computed. The exact exponential is made of fixed operations, so that every
// processor and every GPU gives the same bits; the fast one is a GPU's own instruction, with
// results that differ in the last digits from device to device. On the CPU both are the exact one.
enum class Exponential { exact, fast };

struct CORNEA_API BilateralOptions {
  double sigma = 4;         // of distances, pixels
  double sigma_range = 20;  // of differences, gray levels of 0..255
  int radius = 0;           // of the window, pixels; 0: 3 sigma, rounded up
  Exponential exponential = Exponential::exact;

  void validate() const;
  int window_radius() const;  // `radius`, or what 0 stands for
};

class CORNEA_API BilateralFilter : public ImageFilter {
 public:
  explicit BilateralFilter(const Context& context, const BilateralOptions& options = {});
};

}  // namespace cornea
