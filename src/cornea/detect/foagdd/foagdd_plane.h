// SPDX-License-Identifier: Apache-2.0
// The layout of FOAGDD's derivatives in device memory, and how they are computed and read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornea/core/host_device.h"
#include "cornea/core/image.h"
#include "cornea/core/pixels.h"
#include "cornea/detect/foagdd/foagdd_math.h"

namespace cornea::foagdd {

struct FoagddDeviceBank {
  int radius = 0;
  const float* weights = nullptr;
  int weight_count = 0;  // a multiple of 4
  int half_widths[kFoagddMostRadius + 1] = {};
};

// The derivatives of an image, indexed by row, direction and column. Rows -3 .. height + 4 and
// columns from -4 on, so that every cell of 2 x 2 pixels has all rows and columns of its discs, and
// groups of four columns begin at a multiple of 16 bytes.
struct FoagddPlane {
  int width = 0, height = 0, directions = 0;

  CORNEA_HD int left() const { return -4; }
  CORNEA_HD int top() const { return -kFoagddDiscRadius; }
  CORNEA_HD int right() const { return left() + stride(); }
  CORNEA_HD int bottom() const { return height + kFoagddDiscRadius + 2; }
  CORNEA_HD int stride() const { return (width + 9 + 7) / 8 * 8; }  // to the next direction
  CORNEA_HD int row_stride() const { return stride() * directions; }
  // Index of the derivative of direction 0.
  CORNEA_HD std::size_t at(int x, int y) const {
    return std::size_t(y - top()) * row_stride() + (x - left());
  }
  CORNEA_HD std::size_t frame_size() const { return std::size_t(bottom() - top()) * row_stride(); }
  CORNEA_HD int cells_across() const { return (width + 1) / 2; }
  CORNEA_HD int cells_down() const { return (height + 1) / 2; }
};

// An unordered list of pixels or cells that are still undecided. A pixel is (frame * height + y) *
// width + x; cells of 2 x 2 pixels are numbered likewise.
struct FoagddList {
  const std::uint32_t* items = nullptr;
  const std::uint32_t* count = nullptr;
};

#ifdef __CUDACC__

// A pixel of maps that are stacked vertically.
__device__ inline double* foagdd_map_at(const DeviceView<double>& first, int frame, int x, int y) {
  return first.data + (std::size_t(frame) * first.height + y) * first.stride + x;
}

// A pixel of the extended image as a gray level.
template <class T>
__device__ inline float extended_pixel(const DeviceView<const T>& image, int x, int y) {
  const int column = foagdd_source(x, image.width), row = foagdd_source(y, image.height);
  return column < 0 || row < 0 ? 0.0f : core::gray_level(__ldg(image.row(row) + column));
}

// The n derivatives at a pixel of a tile of the extended image, with the operations and order of
// foagdd_rows.cc.
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

// Reads the derivatives around a pixel, as foagdd_tensor needs them.
struct FoagddLoad {
  const float* centre;
  const FoagddPlane& plane;

  template <class Real, int n>
  __device__ void operator()(int dx, int dy, Real (&d)[n]) const {
    const float* from = centre + std::ptrdiff_t(dy) * plane.row_stride() + dx;
#pragma unroll
    for (int i = 0; i < n; ++i) d[i] = __ldg(from + i * plane.stride());
  }
};

#endif

}  // namespace cornea::foagdd
