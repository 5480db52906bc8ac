// For .cu files: the sums of a range-weighted window around a pixel.
#pragma once

#include "cornea/core/image.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea {

struct RangeWindow {
  float spatial, range;  // the exponent's scales of distances and differences
  const int* reach;      // how far along x by the distance along y; null: `half` everywhere
};

// The mean of what lies above a plane through a pixel, as mean_above_plane() says (range_rows.h);
// without a plane, of the differences.
template <bool has_plane>
__device__ inline float window_mean(const DeviceView<const float>& image, const RangeWindow& window,
                                    int x, int y, int half, float a, float b) {
  const float own = __ldg(image.row(y) + x), k = window.spatial, range = window.range;
  const float slope = has_plane ? -a / k : 0;  // by scaled distance
  float weights = 0, sum = 0;
  // Loops count from zero: nvcc 13.0 was seen to run one step too many of a loop up to and with a
  // limit that is only known at run time.
  const int top = max(-half, -y), rows = min(half, image.height - 1 - y) - top + 1;
  for (int j = 0; j < rows; ++j) {
    const int n = top + j;
    const int reach = window.reach ? min(half, __ldg(window.reach + abs(n))) : half;
    const int left = max(-reach, -x), count = min(reach, image.width - 1 - x) - left + 1;
    const float* row = image.row(y + n) + x + left;
    const float base = has_plane ? -fmaf(b, float(n), own) : -own;
    const float row_exponent = -(k * n) * (k * n);
    auto add = [&](float value, float u) {
      float d = value + base;
      if (has_plane) d = fmaf(slope, u, d);
      const float scaled = d * range;
      const float w = fast_exp2(fmaf(-scaled, scaled, fmaf(-u, u, row_exponent)));
      weights += w;
      sum = fmaf(w, d, sum);
    };
    // A few at a time, so that their loads do not wait for each other.
    constexpr int kAtOnce = 4;
    float values[kAtOnce];
    float m = left;
    int remaining = count;
    for (; remaining >= kAtOnce; remaining -= kAtOnce, row += kAtOnce, m += kAtOnce) {
      const float u = k * m;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) values[i] = __ldg(row + i);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) add(values[i], u + k * i);
    }
    if (remaining > 0) {
      const float u = k * m;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) values[i] = i < remaining ? __ldg(row + i) : kOutside;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) add(values[i], u + k * i);
    }
  }
  return sum / weights;
}

}  // namespace cornea
