// For .cu files: how FOAGDD's derivatives lie in device memory, and how they are made and read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornea/core/host_device.h"
#include "cornea/detect/foagdd/foagdd_math.h"

namespace cornea {

inline constexpr int kFoagddMostRadius = 31;

struct FoagddDeviceBank {
  int radius = 0;
  const float* weights = nullptr;
  int half_widths[kFoagddMostRadius + 1] = {};
};

// The derivatives of an image: all directions of a pixel together, rows -3 .. height + 4, columns
// -4 and on, so that every cell of 2 x 2 pixels finds the rows and columns of its discs.
struct FoagddPlane {
  int width = 0, height = 0;

  CORNEA_HD int left() const { return -4; }
  CORNEA_HD int top() const { return -kFoagddDiscRadius; }
  CORNEA_HD int right() const { return left() + stride(); }
  CORNEA_HD int bottom() const { return height + kFoagddDiscRadius + 2; }
  CORNEA_HD int stride() const { return (width + 9 + 7) / 8 * 8; }
  CORNEA_HD std::size_t at(int x, int y) const {
    return std::size_t(y - top()) * stride() + (x - left());
  }
  CORNEA_HD std::size_t frame_size(int n) const {
    return std::size_t(bottom() - top()) * stride() * n;
  }
  CORNEA_HD int cells_across() const { return (width + 1) / 2; }
  CORNEA_HD int cells_down() const { return (height + 1) / 2; }
};

// Cells of 2 x 2 pixels that a bound could not rule out, in no order; none at all where `cells` is
// null. A cell is (frame * cells_down + row) * cells_across + column.
struct FoagddOpenCells {
  const std::uint32_t* cells = nullptr;
  const std::uint32_t* count = nullptr;
};

#ifdef __CUDACC__

// The n derivatives at a pixel of a tile of the extended image, in the order of foagdd_rows.cc.
template <int n>
__device__ inline void foagdd_derivatives_at(const FoagddDeviceBank& bank, const float* centre,
                                             int stride, float* d) {
  constexpr int kOdd = (n + 1) / 2, kEven = n / 2;
  float p[kOdd] = {}, q[kEven] = {};
  const float* weight = bank.weights;
  for (int a = 0; a <= bank.radius; ++a) {
    const float *above = centre - a * stride, *below = centre + a * stride;
    for (int b = 0; b <= bank.half_widths[a]; ++b, weight += n) {
      const float s = (above[-b] - below[-b]) + (above[b] - below[b]);
      const float t = (above[-b] + below[-b]) - (above[b] + below[b]);
#pragma unroll
      for (int i = 0; i < kOdd; ++i) p[i] = fmaf(__ldg(weight + i), s, p[i]);
#pragma unroll
      for (int i = 0; i < kEven; ++i) q[i] = fmaf(__ldg(weight + kOdd + i), t, q[i]);
    }
  }
  d[0] = fabsf(p[0]);
#pragma unroll
  for (int i = 1; i < kOdd; ++i) {
    d[i] = fabsf(p[i] + q[i - 1]);
    d[n - i] = fabsf(p[i] - q[i - 1]);
  }
  if (n % 2 == 0) d[n / 2] = fabsf(q[kEven - 1]);
}

// The derivatives of a pixel in double.
template <int n>
__device__ inline void load_derivatives(const float* from, double* d) {
  if constexpr (n % 4 == 0) {
#pragma unroll
    for (int i = 0; i < n; i += 4) {
      const float4 v = __ldg(reinterpret_cast<const float4*>(from + i));
      d[i] = v.x, d[i + 1] = v.y, d[i + 2] = v.z, d[i + 3] = v.w;
    }
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) d[i] = __ldg(from + i);
  }
}

#endif

}  // namespace cornea
