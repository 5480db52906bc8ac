// What lies beyond the border of an image: its mirror, without repeating the edge pixel,
//
//   ... c b | a b c d | c b a b ...
//
// the border that OpenCV calls reflect-101. Far outside the mirror repeats with period 2 (n - 1).
#pragma once

#include "cornea/core/host_device.h"

namespace cornea::gaussian {

// The index in [0, n) that stands for any i; n >= 1.
CORNEA_HD inline int reflect101(int i, int n) {
  if (i >= 0 && i < n) return i;
  if (n == 1) return 0;
  // Once is enough for all but the smallest images.
  if (i < 0 && i > -n) return -i;
  if (i >= n && i - n < n - 1) return (n - 1) - (i - (n - 1));
  const long long period = 2LL * (n - 1);
  long long inside = i % period;
  if (inside < 0) inside += period;
  return static_cast<int>(inside < n ? inside : period - inside);
}

}  // namespace cornea::gaussian
