// For .cu files: the sums of a range-weighted window around a pixel.
#pragma once

#include "cornea/core/image.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea::bilateral {

struct RangeWindow {
  float spatial, range;  // the exponent's scales of distances and differences
  const int* reach;      // how far along x by the distance along y; null: `half` everywhere
};

// What neighbours are compared with: the pixel's own value.
struct Level {
  // What is added to a value of the row at distance n, and to that at the scaled distance u along
  // x.
  __device__ float base(float own, int) const { return -own; }
  __device__ float along(float d, float) const { return d; }
};

// The mean of the differences to what neighbours are compared with, over |m|, |n| <= half.
template <class Surface>
__device__ inline float window_mean(const DeviceView<const float>& image, const RangeWindow& window,
                                    const Surface& surface, int x, int y, int half) {
  const float own = __ldg(image.row(y) + x), k = window.spatial, range = window.range;
  float weights = 0, sum = 0;
  // Loops count from zero: nvcc 13.0 was seen to run one step too many of a loop up to and with a
  // limit that is only known at run time.
  const int top = max(-half, -y), rows = min(half, image.height - 1 - y) - top + 1;
  for (int j = 0; j < rows; ++j) {
    const int n = top + j;
    const int reach = window.reach ? min(half, __ldg(window.reach + abs(n))) : half;
    const int left = max(-reach, -x), count = min(reach, image.width - 1 - x) - left + 1;
    const float* row = image.row(y + n) + x + left;
    const float base = surface.base(own, n);
    const float row_exponent = -(k * n) * (k * n);
    auto add = [&](float value, float u) {
      const float d = surface.along(value + base, u);
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

}  // namespace cornea::bilateral
