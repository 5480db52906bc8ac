// SPDX-License-Identifier: Apache-2.0
// Moravec's corner detector (H. Moravec, "Obstacle avoidance and navigation in the real world by a
// seeing robot rover", 1980).
//
//   response(p) = min over the 8 unit shifts s of  sum over q in a w x w window around p of
//                 (I(q + s) - I(q))^2
//
// in units of squared gray levels (0..255). A pixel whose support leaves the image is not a corner.
//
// All arithmetic is on integers, so that the CPU and CUDA agree to the bit. The sum for a shift of
// -s at p is the sum for +s at p - s, so that four sums per pixel serve all eight shifts. 8-bit
// sums stay below 2^24 and are exact in a float map; 16-bit sums stay below 2^53 and are exact in a
// double map. Float images are first rounded to 16 bits.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/detect/corner_detector.h"
#include "cornea/detect/peaks/peaks.h"

namespace cornea {

struct CORNEA_API MoravecOptions {
  int window = 3;  // side of the window, pixels, odd, 3 to 15
  PeakOptions peaks{.threshold = 1500};

  void validate() const;
};

class CORNEA_API Moravec : public CornerDetector {
 public:
  explicit Moravec(const Context& context, const MoravecOptions& options = {});
};

}  // namespace cornea
