// FOAGDD on the CPU: one band of rows of the measure map, and the measure at single pixels. Memory
// grows with the width of the image, not with its height.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/core/image.h"
#include "cornea/detect/foagdd/foagdd_bank.h"
#include "cornea/detect/foagdd/foagdd_rows.h"

namespace cornea::foagdd {

// What screening needs to know of the search that follows.
struct FoagddScreen {
  double threshold = 0;  // pixels at or below it need not be exact
  int radius = 2;        // of the suppression square
};

// Milliseconds that a thread spent.
struct FoagddTimes {
  double derivatives = 0, measure = 0;
};

// Rows begin .. end - 1 of the map. Without a screen every value is exact. With one, those are that
// decide which pixels are above the threshold and the largest of their square; all others hold a
// lower bound, which decides nothing.
template <class T>
FoagddTimes foagdd_map_rows(HostView<const T> image, const FoagddBank& bank,
                            const FoagddScreen* screen, int begin, int end, HostView<double> map);

// The measure of single pixels, from the image alone.
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
