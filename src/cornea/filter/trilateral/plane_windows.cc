#include "cornea/filter/trilateral/plane_windows.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "cornea/filter/bilateral/exp2_pack.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea::trilateral {
namespace {

using namespace core;
using namespace bilateral;

using Ints = Pack<std::int32_t>;

inline float sum_of(Floats v) {
  float sum = 0;
  for (int i = 0; i < kWidth; ++i) sum += v[i];
  return sum;
}

}  // namespace

PlaneWindows::PlaneWindows(double sigma, const std::vector<int>& reach_of)
    : reach(reach_of), centre_(static_cast<int>(reach_of.size()) - 1) {
  const double k = exponent_scale(sigma);
  for (int m = -centre_; m <= centre_ + kSlack; ++m) {
    exponents_.push_back(static_cast<float>(-k * k * m * m));
  }
}

CORNEA_VECTOR_CLONES
float mean_above_plane(const PaddedImage& image, const PlaneWindows& windows, int x, int y,
                       int half, float a, float b) {
  Floats lanes;
  Ints index;
  for (int i = 0; i < kWidth; ++i) lanes[i] = float(i), index[i] = i;
  const float own = image.row(y)[x];
  const Floats step = pack_of(-a * kWidth);
  Floats weights{}, sums{};
  const int top = std::max(-half, -y), bottom = std::min(half, image.height() - 1 - y);
  for (int n = top; n <= bottom; ++n) {
    const int reach = std::min(half, windows.reach[std::abs(n)]);
    const int left = std::max(-reach, -x),
              count = std::min(reach, image.width() - 1 - x) - left + 1;
    const float *row = image.row(y + n) + x + left, *exponents = windows.exponents() + left;
    const float row_exponent = windows.exponents()[n];
    Floats plane = -(own + b * n) - a * (lanes + float(left));
    for (int i = 0; i < count; i += kWidth, plane += step) {
      const Floats d = load_pack(row + i) + plane;
      Floats e = (load_pack(exponents + i) + row_exponent) - d * d;
      if (i + kWidth > count) e = index < count - i ? e : pack_of(-1000.0f);
      const Floats w = exp2_pack(e);
      weights += w;
      sums += w * d;
    }
  }
  return sum_of(sums) / sum_of(weights);
}

}  // namespace cornea::trilateral
