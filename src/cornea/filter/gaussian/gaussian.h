// Gaussian blur, separable:
//
//   out(x, y) = sum_j g(j) sum_i g(i) in(x + i, y + j),   |i|, |j| <= r
//   g(i) = exp(-i^2 / (2 sigma^2)) / sum_k exp(-k^2 / (2 sigma^2)),   r = ceil(4 sigma)
//
// with the image mirrored at its borders (reflect.h), however small it is. The cost is 2 (2r + 1)
// multiplications a pixel, halved by the kernel's symmetry. Rows are blurred once and kept in a
// ring of 2r + 1, so that no intermediate image is needed.
#pragma once

#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/image.h"

namespace cornea {

// ceil(4 sigma): beyond it the weights are under 1/2900 of the peak. 0 for sigma = 0.
int gaussian_radius(double sigma);

// The 2 radius + 1 weights g(-radius) .. g(radius). They are computed in double and sum to 1.
std::vector<float> gaussian_kernel(double sigma, int radius);

// `sigma` in pixels; 0 copies. `out` has the size of `in` and is either the same pixels or does not
// overlap them. The same bytes come out on any number of threads.
void gaussian_blur(const Context& context, HostView<const float> in, HostView<float> out,
                   double sigma);

}  // namespace cornea
