// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/cuda.h"
#include "cornea/core/pixels.h"
#include "cornea/detect/harris/device_harris.h"
#include "cornea/detect/peaks/strongest.h"
#include "cornea/detect/strip_walk.h"
#include "cornea/filter/gaussian/reflect.h"

namespace cornea::harris {
namespace {

using namespace core;
using namespace gaussian;
using namespace peaks;
using namespace detect;

// Three neighbouring pixels of a row, on the 0..255 scale.
struct Triple {
  float l, m, r;
};

// Each warp walks down a strip of the image, one lane per column. Each lane computes the products
// of its column's derivatives; the window's other columns come from the neighbouring lanes, its
// other rows from the lane's own last w rows. Columns and rows beyond the image are mirrored.
template <int radius, bool box, class T>
__global__ void __launch_bounds__(kWarp* kWarpsPerBlock)
    harris_kernel(DeviceView<const T> first, HarrisFormula f, DeviceView<float> first_map,
                  OrderedBits<float>* strongest) {
  constexpr int kWindow = 2 * radius + 1;
  constexpr int kOutputs = kWarp - 2 * radius;
  const T* image = first.data + std::size_t(blockIdx.z) * first.stride * first.height;
  float* map = first_map.data + std::size_t(blockIdx.z) * first_map.stride * first_map.height;
  const int width = first.width, height = first.height;
  const int lane = threadIdx.x;
  const int x = int(blockIdx.x) * kOutputs + lane - radius;
  const int top = (int(blockIdx.y) * kWarpsPerBlock + int(threadIdx.y)) * kRowsPerWalk;
  if (top >= height) return;
  const int centre = reflect101(x, width);
  const int left = reflect101(centre - 1, width), right = reflect101(centre + 1, width);
  auto load = [&](int y) {
    const T* row = image + y * first.stride;
    return Triple{gray_level(__ldg(row + left)), gray_level(__ldg(row + centre)),
                  gray_level(__ldg(row + right))};
  };
  // The weights of a box are 1, so the multiplications can be skipped.
  auto weighed = [&](int i, float v) { return box ? v : f.weight[i] * v; };
  const bool writes = lane >= radius && lane < kWarp - radius && x < width;

  const bool column_counts = x > radius && x < width - radius - 1;
  float largest = -INFINITY;  // of the pixels that may be corners

  float xx[kWindow], xy[kWindow], yy[kWindow];  // sums along x of the last w rows
  // Adds row y, given with its neighbours; the window of row y - radius is then complete.
  auto enter = [&](int y, const Triple& a, const Triple& m, const Triple& b) {
    const float gx = sobel_x(a.l, a.r, m.l, m.r, b.l, b.r);
    const float gy = sobel_y(a.l, a.m, a.r, b.l, b.m, b.r);
    const float product[3] = {gx * gx, gx * gy, gy * gy};
    float along[3];
#pragma unroll
    for (int p = 0; p < 3; ++p) {
      along[p] = weighed(0, __shfl_up_sync(~0u, product[p], radius));
#pragma unroll
      for (int i = 1; i < kWindow; ++i) {
        const float neighbour = i < radius    ? __shfl_up_sync(~0u, product[p], radius - i)
                                : i == radius ? product[p]
                                              : __shfl_down_sync(~0u, product[p], i - radius);
        along[p] += weighed(i, neighbour);
      }
    }
#pragma unroll
    for (int i = 0; i + 1 < kWindow; ++i) {
      xx[i] = xx[i + 1];
      xy[i] = xy[i + 1];
      yy[i] = yy[i + 1];
    }
    xx[kWindow - 1] = along[0];
    xy[kWindow - 1] = along[1];
    yy[kWindow - 1] = along[2];
    const int out_y = y - radius;
    if (out_y < top || !writes) return;
    float sum_xx = weighed(0, xx[0]), sum_xy = weighed(0, xy[0]), sum_yy = weighed(0, yy[0]);
#pragma unroll
    for (int i = 1; i < kWindow; ++i) {
      sum_xx += weighed(i, xx[i]);
      sum_xy += weighed(i, xy[i]);
      sum_yy += weighed(i, yy[i]);
    }
    const float response = f.measure == CornerMeasure::harris
                               ? harris_response(sum_xx, sum_xy, sum_yy, f.k, f.scale)
                               : shi_tomasi_response(sum_xx, sum_xy, sum_yy, f.scale);
    map[out_y * first_map.stride + x] = response;
    if (column_counts && out_y > radius && out_y < height - radius - 1) {
      largest = fmaxf(largest, response);
    }
  };

  const int begin = top - radius, end = min(top + kRowsPerWalk, height) + radius;
  if (begin > 0 && end < height) {
    Triple a = load(begin - 1), m = load(begin);
    // Unrolled by the window's height, the ring of rows is rotated by renaming registers.
#pragma unroll(radius <= 2 ? kWindow : 1)
    for (int y = begin; y < end; ++y) {
      const Triple b = load(y + 1);
      enter(y, a, m, b);
      a = m;
      m = b;
    }
  } else {
    for (int y = begin; y < end; ++y) {
      const int row = reflect101(y, height);
      enter(y, load(reflect101(row - 1, height)), load(row), load(reflect101(row + 1, height)));
    }
  }
  if (strongest) raise_strongest(largest, strongest + blockIdx.z);
}

}  // namespace

template <class T>
void enqueue_harris_response(const Context& context, DeviceView<const T> first, int frames,
                             const HarrisFormula& formula, DeviceView<float> first_map,
                             OrderedBits<float>* strongest) {
  const DeviceGuard device(context);
  with_window_radius(formula.radius, [&](auto radius) {
    const auto kernel =
        formula.box ? harris_kernel<radius(), true, T> : harris_kernel<radius(), false, T>;
    const dim3 grid = walk_grid(first.width, first.height, kWarp - 2 * radius(), frames);
    kernel<<<grid, walk_block(), 0, cuda_stream(context)>>>(first, formula, first_map, strongest);
  });
  cuda_check_launch("Harris response");
}

template void enqueue_harris_response(const Context&, DeviceView<const std::uint8_t>, int,
                                      const HarrisFormula&, DeviceView<float>, OrderedBits<float>*);
template void enqueue_harris_response(const Context&, DeviceView<const std::uint16_t>, int,
                                      const HarrisFormula&, DeviceView<float>, OrderedBits<float>*);
template void enqueue_harris_response(const Context&, DeviceView<const float>, int,
                                      const HarrisFormula&, DeviceView<float>, OrderedBits<float>*);

}  // namespace cornea::harris
