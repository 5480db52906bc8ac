// SPDX-License-Identifier: Apache-2.0
// The border extension of images: mirrored without repeating the edge pixel,
//
//   ... c b | a b c d | c b a b ...
//
// which OpenCV calls BORDER_REFLECT_101. The extension is periodic with period 2 (n - 1).
#pragma once

#include "cornea/core/host_device.h"

namespace cornea::gaussian {

// The index in [0, n) that any i is mapped to; n >= 1.
CORNEA_HD inline int reflect101(int i, int n) {
  if (i >= 0 && i < n) return i;
  if (n == 1) return 0;
  // One reflection is enough for all but the smallest images.
  if (i < 0 && i > -n) return -i;
  if (i >= n && i - n < n - 1) return (n - 1) - (i - (n - 1));
  const long long period = 2LL * (n - 1);
  long long inside = i % period;
  if (inside < 0) inside += period;
  return static_cast<int>(inside < n ? inside : period - inside);
}

}  // namespace cornea::gaussian
