// The trilateral filter's last step on the CPU: windows around a plane.
#pragma once

#include <vector>

#include "cornea/filter/bilateral/range_rows.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea::trilateral {

// Windows of their own for pixels, with |m| <= reach[|n|] for each of their rows.
class PlaneWindows {
 public:
  PlaneWindows(double sigma, const std::vector<int>& reach);

  std::vector<int> reach;
  // The parts of E by the distance along x, from -R to R and a little more, and along y.
  const float* of_column() const { return of_column_.data() + centre_; }
  float of_row(int n) const { return bilateral::row_exponent(scale_, n); }

 private:
  int centre_;
  float scale_;
  std::vector<float> of_column_;
};

// The mean of what lies above a plane through a pixel,
//
//   sum D w / sum w,   D(m, n) = I(x + m, y + n) - I(x, y) - a m - b n
//
// over |m|, |n| <= half that lie in the image. The image is multiplied by the exponent's scale of
// differences, and so are a, b and the result.
CORNEA_PER_ISA(float, mean_above_plane,
               (const bilateral::PaddedImage& image, const PlaneWindows& windows, int x, int y,
                int half, float a, float b),
               (image, windows, x, y, half, a, b))

}  // namespace cornea::trilateral
