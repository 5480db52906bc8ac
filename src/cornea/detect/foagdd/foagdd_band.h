// SPDX-License-Identifier: Apache-2.0
// FOAGDD on the CPU: one band of rows of the map of measures, and the measure at single pixels.
// Memory grows with the width of the image, not with its height.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/core/image.h"
#include "cornea/detect/foagdd/foagdd_bank.h"
#include "cornea/detect/foagdd/foagdd_rows.h"

namespace cornea::foagdd {

// The parameters of the subsequent peak search that screening needs.
struct FoagddScreen {
  double threshold = 0;  // pixels at or below it need no exact measure
  int radius = 2;        // of the suppression square
};

// Milliseconds spent by one thread.
struct FoagddTimes {
  double derivatives = 0, measure = 0;
};

// Computes the rows begin .. end - 1 of the map. Without a screen every value is exact. With a
// screen, the values that decide which pixels are above the threshold and the largest of their
// square are exact; all others are lower bounds, which do not change that decision.
template <class T>
FoagddTimes foagdd_map_rows(HostView<const T> image, const FoagddBank& bank,
                            const FoagddScreen* screen, int begin, int end, HostView<double> map);

// The measure of single pixels, computed from the image alone.
template <class T>
class FoagddProbe {
 public:
  FoagddProbe(HostView<const T> image, const FoagddBank& bank);
  double measure(int x, int y);

 private:
  HostView<const T> image_;
  const FoagddBank& bank_;
  FoagddScratch scratch_;
  std::vector<float> patch_, derivatives_;
};

}  // namespace cornea::foagdd
