// SPDX-License-Identifier: Apache-2.0
// FOAGDD's filters, arranged so that one pass over an image's differences serves all directions.
//
// The kernel of direction t, k_t(a, b) with a down and b right, is odd: k_t(-a, -b) = -k_t(a, b).
// Direction pi - t is its mirror image: k_(pi-t)(a, b) = k_t(-a, b). Write the four pixels that lie
// a rows and b columns around p as
//
//   r(b) = I(-a, b) - I(a, b)      S = r(-b) + r(b)
//   e(b) = I(-a, b) + I(a, b)      T = e(-b) - e(b)
//
// Then the convolution with k_t is sum P S + sum Q T with P, Q = (k_t(a, b) +- k_t(a, -b)) / 2, and
// that with k_(pi-t) is -(sum P S - sum Q T): two products for four pixels and two directions. For
// t = 0 every Q is zero, for t = pi / 2 every P.
//
// The mean of an odd kernel is zero, so subtracting it changes nothing. Weights below 2^-23 of the
// largest are below the last bit of the float sum and are omitted: with the published options the
// 31 x 31 kernels end at radius 8, 11 and 14.
#pragma once

#include <vector>

#include "cornea/detect/foagdd/foagdd.h"

namespace cornea::foagdd {

// The weights of one scale. For every row a = 0..radius and column b = 0..half_widths[a] there are
// `directions` weights: those of S for the directions 0, 1, .. below pi / 2, then those of T for
// the directions 1, 2, .. up to pi / 2. On the axes, where S or T counts a pixel twice, they are
// halved; omitted weights are zero.
struct FoagddBank {
  int directions = 0;
  int radius = 0;
  std::vector<int> half_widths;
  std::vector<float> weights;

  int odd_count() const { return (directions + 1) / 2; }  // weights of S
  int even_count() const { return directions / 2; }       // weights of T
};

FoagddBank make_foagdd_bank(const FoagddOptions& options, double scale);

}  // namespace cornea::foagdd
