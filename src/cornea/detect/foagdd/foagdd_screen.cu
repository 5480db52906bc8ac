// SPDX-License-Identifier: Apache-2.0
// Finds the pixels that need an exact measure, for eight directions: bounds of cells of 2 x 2
// pixels, then bounds of pixels (foagdd_math.h derives them), then a comparison with the
// neighbours.
#include <algorithm>
#include <cfloat>

#include "cornea/core/cuda.h"
#include "cornea/core/warp.h"
#include "cornea/detect/foagdd/device_foagdd.h"
#include "cornea/detect/foagdd/foagdd_math.h"
#include "cornea/detect/foagdd/foagdd_plane.h"

namespace cornea::foagdd {
namespace {

using namespace core;

constexpr int n = 8;
// The two outer lanes on each side only provide columns to their neighbours.
constexpr int kCellsPerWarp = kWarp - 4;
constexpr int kWarpsPerBlock = 4;

// One instruction with an error of one ulp.
__device__ float approximate_reciprocal(float v) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

// Products of two directions summed over 4, 6 and 8 rows of a column.
struct ColumnSums {
  float four, six, eight;
};
__device__ ColumnSums column_sums(const float (&i)[8], const float (&j)[8]) {
  ColumnSums sums;
  sums.four = fmaf(i[5], j[5], fmaf(i[2], j[2], fmaf(i[4], j[4], i[3] * j[3])));
  sums.six = fmaf(i[6], j[6], fmaf(i[1], j[1], sums.four));
  sums.eight = fmaf(i[7], j[7], fmaf(i[0], j[0], sums.six));
  return sums;
}

// The upper or lower bound of the measure from LDL' of the shifted tensor.
template <bool upper>
__device__ float pivot_bound(const float (&tensor)[foagdd_tensor_size(n)], float trace) {
  constexpr float kLeast = 1e-30f;
  trace = fmaxf(trace, kLeast);
  const float shift = (upper ? trace : -trace) * foagdd_screen_shift(n);
  float m[foagdd_tensor_size(n)];
#pragma unroll
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      const int at = foagdd_tensor_index(i, j);
      m[at] = i == j ? tensor[at] + shift : tensor[at];
    }
  }
  float product = approximate_reciprocal(trace);
#pragma unroll
  for (int k = 0; k < n; ++k) {
    float pivot = m[foagdd_tensor_index(k, k)];
    if (upper) pivot = fmaxf(pivot, kLeast);
    if (!upper && !(pivot > 0)) return 0;
    product *= pivot;
    const float inverse = approximate_reciprocal(pivot);
#pragma unroll
    for (int j = k + 1; j < n; ++j) {
      const float l = m[foagdd_tensor_index(j, k)] * inverse;
#pragma unroll
      for (int i = j; i < n; ++i) {
        float& entry = m[foagdd_tensor_index(i, j)];
        entry = fmaf(-l, m[foagdd_tensor_index(i, k)], entry);
      }
    }
  }
  if (upper) return fmaf(product, kFoagddScreenSlack, product) + kLeast;
  return fminf(fmaf(product, -kFoagddScreenSlack, product), FLT_MAX);
}

// Warp collective: appends this lane's item to a list if has_item is true. The order of the list
// does not matter.
__device__ void append(bool has_item, std::uint32_t item, std::uint32_t* items,
                       std::uint32_t* count) {
  const std::uint32_t lanes = __ballot_sync(~0u, has_item);
  if (lanes == 0) return;
  const int lane = threadIdx.x % kWarp;
  std::uint32_t place = 0;
  if (lane == 0) place = atomicAdd(count, __popc(lanes));
  place = __shfl_sync(~0u, place, 0) + __popc(lanes & ((1u << lane) - 1));
  if (has_item) items[place] = item;
}

// The two columns of a cell, in the 8 rows that its discs reach.
using CellRows = float[2][n][8];

__device__ void load_row(const float* from, const FoagddPlane& plane, int k, CellRows& d) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const float2 v = __ldg(reinterpret_cast<const float2*>(from + i * plane.stride()));
    d[0][i][k] = v.x;
    d[1][i][k] = v.y;
  }
}

// An upper bound of the measure of the four pixels. The union of their discs extends three columns
// to each side; the two neighbouring lanes on each side hold them.
__device__ float upper_bound(const CellRows& d, float threshold) {
  float m[foagdd_tensor_size(n)];
  auto make_entry = [&](int i, int j) {
    const ColumnSums left = column_sums(d[0][i], d[0][j]), right = column_sums(d[1][i], d[1][j]);
    float sum = left.eight + right.eight;
    sum += __shfl_up_sync(~0u, left.six + right.eight, 1);
    sum += __shfl_down_sync(~0u, left.eight + right.six, 1);
    sum += __shfl_up_sync(~0u, right.four, 2);
    sum += __shfl_down_sync(~0u, left.four, 2);
    m[foagdd_tensor_index(i, j)] = sum;
  };
  float trace = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    make_entry(i, i);
    trace += m[foagdd_tensor_index(i, i)];
  }
  // For a given trace the determinant is largest if all eigenvalues are equal. If even that is
  // below the threshold for all cells of the warp, as in the sky, no factorisation is needed.
  const float mean = trace * ((1 + 64 * kFoagddScreenSlack) / n), squared = mean * mean;
  const float most = squared * squared * squared * mean / n + 1e-30f;
  if (__all_sync(~0u, most <= threshold)) return most;
#pragma unroll
  for (int i = 1; i < n; ++i) {
#pragma unroll
    for (int j = 0; j < i; ++j) make_entry(i, j);
  }
  return pivot_bound<true>(m, trace);
}

// Each warp walks down a strip of cells, one lane per cell; each iteration loads two more rows. The
// bounds of a closed cell's pixels are zero.
__global__ void __launch_bounds__(kWarp* kWarpsPerBlock, 3)
    cell_kernel(const float* derivatives, FoagddPlane plane, float threshold, int rows_per_walk,
                int first_frame, PixelBounds* bounds, DeviceView<double> first_map,
                std::uint32_t* cells, std::uint32_t* count) {
  const int lane = threadIdx.x, frame = blockIdx.z;
  const int column = int(blockIdx.x) * kCellsPerWarp + lane - 2;
  const int begin = (int(blockIdx.y) * kWarpsPerBlock + int(threadIdx.y)) * rows_per_walk;
  const int end = min(begin + rows_per_walk, plane.cells_down());
  if (begin >= end) return;
  const bool mine = lane >= 2 && lane < kWarp - 2 && column < plane.cells_across();
  // Lanes beyond the image read its last columns; no valid cell uses them.
  const int x = min(max(2 * column, plane.left()), plane.right() - 2);
  const float* from = derivatives + frame * plane.frame_size() + plane.at(x, 2 * begin - 3);
  const std::size_t row_stride = plane.row_stride();
  CellRows d;
#pragma unroll
  for (int k = 0; k < 6; ++k, from += row_stride) load_row(from, plane, k, d);
#pragma unroll 1
  for (int row = begin; row < end; ++row) {
#pragma unroll
    for (int k = 6; k < 8; ++k, from += row_stride) load_row(from, plane, k, d);
    const float upper = upper_bound(d, threshold);  // warp collective
    const bool open = mine && !(upper <= threshold);
    if (mine && !open) {
      for (int y = 2 * row; y < min(2 * row + 2, plane.height); ++y) {
        PixelBounds* at =
            bounds + (std::size_t(frame) * plane.height + y) * plane.width + 2 * column;
        double* map = foagdd_map_at(first_map, first_frame + frame, 2 * column, y);
        for (int k = 0; k < 2 && 2 * column + k < plane.width; ++k) {
          at[k] = {0, 0};
          map[k] = 0;
        }
      }
    }
    append(open, (std::uint32_t(frame) * plane.cells_down() + row) * plane.cells_across() + column,
           cells, count);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
#pragma unroll
      for (int i = 0; i < n; ++i) {
#pragma unroll
        for (int k = 0; k < 6; ++k) d[c][i][k] = d[c][i][k + 2];
      }
    }
  }
}

constexpr int kBoundThreads = 128;

// The tensors of two neighbours of a row, x even. They are summed row by row, because a float2 load
// brings two columns.
__device__ void pair_tensors(const float* centre, const FoagddPlane& plane,
                             float (&tensor)[2][foagdd_tensor_size(n)]) {
#pragma unroll
  for (int k = 0; k < 2 * foagdd_tensor_size(n); ++k) tensor[k % 2][k / 2] = 0;
#pragma unroll
  for (int dy = -kFoagddDiscRadius; dy <= kFoagddDiscRadius; ++dy) {
    constexpr int kFirst = -4, kColumns = 10;
    const int half = foagdd_disc_half_height(dy);  // the disc is symmetric
    const float* from = centre + std::ptrdiff_t(dy) * plane.row_stride();
    float d[n][kColumns];
#pragma unroll
    for (int i = 0; i < n; ++i) {
#pragma unroll
      for (int c = 0; c < kColumns; c += 2) {
        if (kFirst + c + 1 < -half || kFirst + c > half + 1) continue;
        const float2 v =
            __ldg(reinterpret_cast<const float2*>(from + i * plane.stride() + kFirst + c));
        d[i][c] = v.x;
        d[i][c + 1] = v.y;
      }
    }
#pragma unroll
    for (int i = 0; i < n; ++i) {
#pragma unroll
      for (int j = 0; j <= i; ++j) {
        float both = 0;  // the columns that both discs share
#pragma unroll
        for (int c = 1 - half - kFirst; c <= half - kFirst; ++c)
          both = fmaf(d[i][c], d[j][c], both);
        const int left = -half - kFirst, right = half + 1 - kFirst;
        tensor[0][foagdd_tensor_index(i, j)] += fmaf(d[i][left], d[j][left], both);
        tensor[1][foagdd_tensor_index(i, j)] += fmaf(d[i][right], d[j][right], both);
      }
    }
  }
}

// Bounds of the pixels of open cells, two neighbours of a row per thread.
__global__ void __launch_bounds__(kBoundThreads, 3)
    bound_kernel(const float* derivatives, FoagddPlane plane, FoagddList cells, float threshold,
                 PixelBounds* bounds) {
  const std::uint32_t count = *cells.count;
  for (std::size_t i = blockIdx.x * std::size_t(kBoundThreads) + threadIdx.x;
       i < 2 * std::size_t(count); i += std::size_t(gridDim.x) * kBoundThreads) {
    const std::uint32_t cell = cells.items[i / 2];
    const int across = plane.cells_across(), down = plane.cells_down();
    const int x = int(cell % across) * 2, y = int(cell / across % down) * 2 + int(i % 2);
    const int frame = int(cell / across / down);
    if (y >= plane.height) continue;
    float tensor[2][foagdd_tensor_size(n)];
    pair_tensors(derivatives + frame * plane.frame_size() + plane.at(x, y), plane, tensor);
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      if (x + p >= plane.width) break;
      float trace = 0;
#pragma unroll
      for (int k = 0; k < n; ++k) trace += tensor[p][foagdd_tensor_index(k, k)];
      const float upper = pivot_bound<true>(tensor[p], trace);
      const float lower = upper <= threshold ? 0 : pivot_bound<false>(tensor[p], trace);
      bounds[(std::size_t(frame) * plane.height + y) * plane.width + x + p] = {upper, lower};
    }
  }
}

// Calls f(x, y, frame, valid) for the pixels of open cells, one pixel per thread.
template <class F>
__device__ void for_each_open_pixel(const FoagddPlane& plane, const FoagddList& cells, F&& f) {
  const std::size_t count = std::size_t(*cells.count) * 4;
  const int across = plane.cells_across(), down = plane.cells_down();
  // Whole warps, because f may contain warp collectives.
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
       i < divide_up<std::size_t>(count, kWarp) * kWarp; i += std::size_t(gridDim.x) * blockDim.x) {
    const std::uint32_t cell = i < count ? cells.items[i / 4] : 0;
    const int x = int(cell % across) * 2 + int(i % 2);
    const int y = int(cell / across % down) * 2 + int(i / 2 % 2);
    f(x, y, int(cell / across / down), i < count && x < plane.width && y < plane.height);
  }
}

// Calls f(bounds of a neighbour) for the square around a pixel. The published radius is unrolled,
// so that its loads overlap.
template <class F>
__device__ void for_each_neighbour(const PixelBounds* bounds, const FoagddPlane& plane, int x,
                                   int y, int radius, F&& f) {
  constexpr int kUsual = 2;
  const bool inner =
      x >= kUsual && x < plane.width - kUsual && y >= kUsual && y < plane.height - kUsual;
  if (radius == kUsual && inner) {
    const PixelBounds* centre = bounds + std::size_t(y) * plane.width + x;
#pragma unroll
    for (int j = -kUsual; j <= kUsual; ++j) {
#pragma unroll
      for (int i = -kUsual; i <= kUsual; ++i) f(centre[j * plane.width + i]);
    }
    return;
  }
  const int columns = min(x + radius, plane.width - 1) - max(x - radius, 0) + 1;
  for (int j = max(y - radius, 0); j <= min(y + radius, plane.height - 1); ++j) {
    const PixelBounds* row = bounds + std::size_t(j) * plane.width + max(x - radius, 0);
#pragma unroll 1
    for (int i = 0; i < columns; ++i) f(row[i]);
  }
}

constexpr int kDecideThreads = 256;

// Marks the contenders. Here each upper bound is read and written only by its own thread; other
// threads read lower bounds.
__global__ void __launch_bounds__(kDecideThreads)
    contender_kernel(FoagddPlane plane, FoagddList cells, float threshold, int radius,
                     PixelBounds* all_bounds) {
  for_each_open_pixel(plane, cells, [&](int x, int y, int frame, bool valid) {
    if (!valid) return;
    PixelBounds* bounds = all_bounds + std::size_t(frame) * plane.width * plane.height;
    float& marked_upper = bounds[std::size_t(y) * plane.width + x].marked_upper;
    const float upper = marked_upper;
    if (!(upper > threshold)) return;
    bool largest = true;
    for_each_neighbour(bounds, plane, x, y, radius,
                       [&](const PixelBounds& other) { largest &= upper >= other.lower; });
    if (largest) marked_upper = -upper;
  });
}

// Finds the pixels that need an exact measure: contenders, and all pixels in their squares that may
// be larger. All other pixels of the map get their lower bound, which does not change the decision:
// a pixel that is no contender has a neighbour in its square that is certainly larger.
__global__ void __launch_bounds__(kDecideThreads)
    decide_kernel(const PixelBounds* all_bounds, FoagddPlane plane, FoagddList cells,
                  float threshold, int radius, int first_frame, DeviceView<double> first_map,
                  std::uint32_t* pixels, std::uint32_t* count) {
  for_each_open_pixel(plane, cells, [&](int x, int y, int frame, bool valid) {
    const PixelBounds* bounds = all_bounds + std::size_t(frame) * plane.width * plane.height;
    const PixelBounds mine = valid ? bounds[std::size_t(y) * plane.width + x] : PixelBounds{0, 0};
    bool open = false;
    if (valid && mine.upper() > threshold) {
      for_each_neighbour(bounds, plane, x, y, radius, [&](const PixelBounds& other) {
        open |= other.is_contender() && mine.upper() >= other.lower;
      });
    }
    if (valid) *foagdd_map_at(first_map, first_frame + frame, x, y) = mine.lower;
    append(open, (std::uint32_t(frame) * plane.height + y) * plane.width + x, pixels, count);
  });
}

}  // namespace

FoagddList DeviceFoagdd::enqueue_screen(const FoagddScreen& screen, int frame, int frames,
                                        DeviceView<double> first_map) {
  const cudaStream_t stream = cuda_stream(context_);
  const float* derivatives = derivatives_.data<float>();
  const float threshold = foagdd_screen_threshold(screen.threshold);
  auto* bounds = bounds_.data<PixelBounds>();
  auto* cells = open_cells_.data<std::uint32_t>();
  auto* pixels = open_pixels_.data<std::uint32_t>();
  auto* counts = open_counts_.data<std::uint32_t>();
  cuda_check(cudaMemsetAsync(counts, 0, 2 * sizeof *counts, stream), "clearing FOAGDD's counts");

  // Long walks load less; short ones keep every multiprocessor busy.
  const int strips = divide_up(plane_.cells_across(), kCellsPerWarp);
  const int warps = multiprocessors_ * kWarpsPerBlock * 4;
  const int rows_per_walk = std::clamp(plane_.cells_down() * strips * frames / warps, 2, 8);
  const dim3 walks(strips, divide_up(plane_.cells_down(), kWarpsPerBlock * rows_per_walk), frames);
  cell_kernel<<<walks, dim3(kWarp, kWarpsPerBlock), 0, stream>>>(
      derivatives, plane_, threshold, rows_per_walk, frame, bounds, first_map, cells, &counts[0]);
  cuda_check_launch("FOAGDD bounds of cells");
  bound_kernel<<<multiprocessors_ * 16, kBoundThreads, 0, stream>>>(
      derivatives, plane_, {cells, &counts[0]}, threshold, bounds);
  cuda_check_launch("FOAGDD bounds of pixels");
  contender_kernel<<<multiprocessors_ * 8, kDecideThreads, 0, stream>>>(
      plane_, {cells, &counts[0]}, threshold, screen.radius, bounds);
  cuda_check_launch("FOAGDD contenders");
  decide_kernel<<<multiprocessors_ * 8, kDecideThreads, 0, stream>>>(
      bounds, plane_, {cells, &counts[0]}, threshold, screen.radius, frame, first_map, pixels,
      &counts[1]);
  cuda_check_launch("FOAGDD open pixels");
  return {pixels, &counts[1]};
}

}  // namespace cornea::foagdd
