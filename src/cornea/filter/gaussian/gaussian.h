// SPDX-License-Identifier: Apache-2.0
// Gaussian blur, separable:
//
//   out(x, y) = sum_j g(j) sum_i g(i) in(x + i, y + j),   |i|, |j| <= r
//   g(i) = exp(-i^2 / (2 sigma^2)) / sum_k exp(-k^2 / (2 sigma^2)),   r = ceil(4 sigma)
//
// with the image mirrored at its borders without repeating the edge (reflect-101), however small it
// is. The cost is 2 (2r + 1) fused multiply-adds per pixel. On the CPU each band of rows blurs its
// rows along x once and keeps them in a ring buffer of 2r + 4 rows; on CUDA tiles are blurred in
// shared memory. So no intermediate image is needed, except for wide kernels on CUDA. Sums are
// added in a fixed order, so that both devices give the same bits.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/filter/image_filter.h"

namespace cornea {

struct CORNEA_API GaussianOptions {
  double sigma = 1.6;  // pixels; 0 copies the image

  void validate() const;
};

class CORNEA_API GaussianFilter : public ImageFilter {
 public:
  explicit GaussianFilter(const Context& context, const GaussianOptions& options = {});
};

}  // namespace cornea
