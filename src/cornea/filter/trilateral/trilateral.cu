// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cornea/core/cuda.h"
#include "cornea/core/stack.h"
#include "cornea/filter/bilateral/range_rows.h"
#include "cornea/filter/bilateral/range_weight.h"
#include "cornea/filter/trilateral/device_trilateral.h"
#include "cornea/filter/trilateral/trilateral_math.h"

namespace cornea::trilateral {
namespace {

using namespace core;
using namespace bilateral;

constexpr dim3 kBlock(32, 8);
constexpr int kThreads = 256;
constexpr int kTile = 32;  // side of the tiles whose levels are computed together

// Rows are mapped to the grid's x dimension, the only one that may be large.
dim3 pixel_grid(int width, int height, int images) {
  return dim3(divide_up(height, int(kBlock.y)), divide_up(width, int(kBlock.x)), images);
}

struct Gradient {
  float x, y, magnitude;
};

// The smallest and the largest squared magnitude of an image as integer bits, which have the order
// of the values. The smallest is stored as its complement, so that both start at zero and are
// updated with atomicMax.
struct Extremes {
  std::uint32_t not_least, largest;
};
__device__ double range_of(const Extremes& e) {
  return trilateral_range(__uint_as_float(~e.not_least), __uint_as_float(e.largest));
}
// The same, computed once per block.
__device__ double range_for_block(const Extremes* extremes) {
  __shared__ double sigma_r;
  if (threadIdx.x == 0 && threadIdx.y == 0) sigma_r = range_of(*extremes);
  __syncthreads();
  return sigma_r;
}

__global__ void __launch_bounds__(kThreads)
    gradient_kernel(DeviceView<const float> first, Gradient* gradients, float* squares,
                    Extremes* extremes) {
  const auto image = frame_of(first, blockIdx.z);
  const int x = blockIdx.y * kBlock.x + threadIdx.x, y = blockIdx.x * kBlock.y + threadIdx.y;
  std::uint32_t not_least = 0, largest = 0;
  if (x < image.width && y < image.height) {
    const float own = image(x, y);
    const float gx = x + 1 < image.width ? image(x + 1, y) - own : 0.0f;
    const float gy = y + 1 < image.height ? image(x, y + 1) - own : 0.0f;
    const float squared = squared_magnitude(gx, gy);
    const std::size_t at = (std::size_t(blockIdx.z) * image.height + y) * image.width + x;
    gradients[at] = {gx, gy, sqrtf(squared)};
    squares[at] = squared;
    largest = __float_as_uint(squared);
    not_least = ~largest;
  }
  for (int step = 16; step > 0; step /= 2) {
    not_least = max(not_least, __shfl_xor_sync(~0u, not_least, step));
    largest = max(largest, __shfl_xor_sync(~0u, largest, step));
  }
  __shared__ std::uint32_t block_extremes[2];
  if (threadIdx.y == 0 && threadIdx.x < 2) block_extremes[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMax(&block_extremes[0], not_least);
    atomicMax(&block_extremes[1], largest);
  }
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    // A plain load first: few blocks improve on the extremes found so far, so most of them skip the
    // atomic.
    Extremes& all = extremes[blockIdx.z];
    if (block_extremes[0] > __ldcg(&all.not_least)) atomicMax(&all.not_least, block_extremes[0]);
    if (block_extremes[1] > __ldcg(&all.largest)) atomicMax(&all.largest, block_extremes[1]);
  }
}

// Two levels of a tile's stack, minima and maxima, in shared memory.
int stack_bytes(int level_count) {
  const int side = kTile + 2 * (level_count - 1);
  return 4 * side * side * static_cast<int>(sizeof(float));
}
constexpr int kMostLevels = 16;  // for an image of 2^31 - 1 pixels

// The levels of a tile. The stack stays in shared memory, two levels at a time.
__global__ void __launch_bounds__(kThreads)
    level_kernel(const float* squares, int width, int height, int level_count,
                 const Extremes* extremes, std::uint8_t* levels) {
  extern __shared__ float stack[];
  const int halo = level_count - 1, side = kTile + 2 * halo, area = side * side;
  float *low = stack, *high = low + area, *next_low = high + area, *next_high = next_low + area;
  const int left = int(blockIdx.y) * kTile, top = int(blockIdx.x) * kTile;
  const std::size_t frame = std::size_t(blockIdx.z) * height * width;
  const double sigma_r = range_for_block(extremes + blockIdx.z);
  // Pixels beyond the image repeat its edge, which changes no minimum or maximum.
  for (int i = threadIdx.x; i < area; i += kThreads) {
    const int x = min(max(left - halo + i % side, 0), width - 1);
    const int y = min(max(top - halo + i / side, 0), height - 1);
    low[i] = high[i] = __ldg(squares + frame + std::size_t(y) * width + x);
  }
  __syncthreads();

  constexpr int kPixels = kTile * kTile / kThreads;
  LevelLimits limits[kPixels];
  int level[kPixels];
  bool open[kPixels];
  int inside[kPixels];  // index of the pixel in the tile with its halo
#pragma unroll
  for (int k = 0; k < kPixels; ++k) {
    const int i = threadIdx.x + k * kThreads, x = i % kTile, y = i / kTile;
    inside[k] = (halo + y) * side + halo + x;
    level[k] = 0;
    open[k] = left + x < width && top + y < height;
    limits[k] = level_limits(low[inside[k]], sigma_r);
  }
  // Each thread walks down one part of a column.
  const int parts = kThreads / side, part = threadIdx.x / side, column = threadIdx.x % side;
  for (int l = 1; l < level_count; ++l) {
    const int begin = l, count = side - 2 * l, rows = divide_up(count, parts);
    if (part < parts && column >= begin && column < side - begin) {
      const int first_row = begin + part * rows, last_row = min(first_row + rows, side - begin);
      auto across = [&](int row, float& least, float& largest) {
        const int at = row * side + column;
        least = fminf(fminf(low[at - 1], low[at]), low[at + 1]);
        largest = fmaxf(fmaxf(high[at - 1], high[at]), high[at + 1]);
      };
      float least[3], largest[3];
      if (first_row < last_row) {
        across(first_row - 1, least[0], largest[0]);
        across(first_row, least[1], largest[1]);
      }
      for (int row = first_row; row < last_row; ++row) {
        across(row + 1, least[2], largest[2]);
        next_low[row * side + column] = fminf(fminf(least[0], least[1]), least[2]);
        next_high[row * side + column] = fmaxf(fmaxf(largest[0], largest[1]), largest[2]);
        least[0] = least[1], least[1] = least[2];
        largest[0] = largest[1], largest[1] = largest[2];
      }
    }
    __syncthreads();
    float* const was_low = low;
    float* const was_high = high;
    low = next_low, high = next_high, next_low = was_low, next_high = was_high;
    bool any = false;
#pragma unroll
    for (int k = 0; k < kPixels; ++k) {
      open[k] =
          open[k] && high[inside[k]] <= limits[k].largest && low[inside[k]] >= limits[k].least;
      level[k] += open[k];
      any |= open[k];
    }
    if (!__syncthreads_or(any)) break;
  }
#pragma unroll
  for (int k = 0; k < kPixels; ++k) {
    const int i = threadIdx.x + k * kThreads, x = left + i % kTile, y = top + i / kTile;
    if (x < width && y < height) levels[frame + std::size_t(y) * width + x] = level[k];
  }
}

// The gradients, smoothed with weights from their magnitudes; and the image, multiplied by the
// exponent's scale k_r.
template <class Ops>
__global__ void __launch_bounds__(kThreads)
    smooth_kernel(const Gradient* gradients, int width, int height, int half, float spatial,
                  const Extremes* extremes, DeviceView<const float> first, float2* planes,
                  float* scaled) {
  const double sigma_r = range_for_block(extremes + blockIdx.z);
  const int x = blockIdx.y * kBlock.x + threadIdx.x, y = blockIdx.x * kBlock.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const std::size_t at = (std::size_t(blockIdx.z) * height + y) * width + x;
  const Gradient own = gradients[at];
  float2 plane = {own.x, own.y};
  const auto range = static_cast<float>(exponent_scale(sigma_r));
  if (sigma_r > 0) scaled[at] = frame_of(first, blockIdx.z)(x, y) * range;
  if (half > 0 && sigma_r > 0) {
    float weights = 0, sum_x = 0, sum_y = 0;
    const int left = max(-half, -x), columns = min(half, width - 1 - x) - left + 1;
    const int top = max(-half, -y), rows = min(half, height - 1 - y) - top + 1;
    for (int j = 0; j < rows; ++j) {
      const Gradient* row = gradients + at + std::ptrdiff_t(top + j) * width + left;
      const float row_part = row_exponent(spatial, top + j);
      for (int i = 0; i < columns; ++i) {
        const Gradient g = row[i];
        const float d = (g.magnitude - own.magnitude) * range;
        const float w = weight<Ops>(d, column_exponent(spatial, left + i) + row_part);
        weights += w;
        sum_x = fmaf(w, g.x, sum_x);
        sum_y = fmaf(w, g.y, sum_y);
      }
    }
    plane = {sum_x / weights, sum_y / weights};
  }
  planes[at] = plane;
}

// The mean difference to the plane of gradient (a, b) through a pixel, with the operations of
// mean_above_plane() in plane_windows.cc: the neighbours of a row are added to kPlaneLanes partial
// sums cyclically. `exponents` are the window_exponents() of the reach.
template <class Ops>
__device__ float mean_above_plane(const float* scaled, int width, int height, const int* reach,
                                  const float* exponents, int reach_radius, int x, int y, int half,
                                  float a, float b) {
  float along[kPlaneLanes], weights[kPlaneLanes] = {}, sums[kPlaneLanes] = {};
#pragma unroll
  for (int i = 0; i < kPlaneLanes; ++i) along[i] = -a * float(i);
  const float own = __ldg(scaled + std::size_t(y) * width + x);
  // Loops count from zero, because nvcc 13.0 was observed to run one iteration too many of a loop
  // with an inclusive upper limit that is known only at run time.
  const int top = max(-half, -y), rows = min(half, height - 1 - y) - top + 1;
  for (int j = 0; j < rows; ++j) {
    const int n = top + j;
    const int far = min(half, __ldg(reach + abs(n)));
    const int left = max(-far, -x), count = min(far, width - 1 - x) - left + 1;
    const float* row = scaled + std::size_t(y + n) * width + x + left;
    const float base = -fmaf(b, float(n), own);
    const float* places =
        exponents + (n + reach_radius) * (2 * reach_radius + 1) + reach_radius + left;
    auto add = [&](int i, int at, float value, float plane) {
      const float d = (value + plane) + along[i];
      const float w = weight<Ops>(d, __ldg(places + at + i));
      weights[i] += w;
      sums[i] = fmaf(w, d, sums[i]);
    };
    int at = 0;
    for (; count - at >= kPlaneLanes; at += kPlaneLanes) {
      const float plane = fmaf(-a, float(left + at), base);
      float values[kPlaneLanes];
#pragma unroll
      for (int i = 0; i < kPlaneLanes; ++i) values[i] = __ldg(row + at + i);
#pragma unroll
      for (int i = 0; i < kPlaneLanes; ++i) add(i, at, values[i], plane);
    }
    const float plane = fmaf(-a, float(left + at), base);
#pragma unroll
    for (int i = 0; i < kPlaneLanes - 1; ++i) {
      if (i >= count - at) break;
      add(i, at, __ldg(row + at + i), plane);
    }
  }
  float weight = 0, sum = 0;
#pragma unroll
  for (int i = 0; i < kPlaneLanes; ++i) weight += weights[i], sum += sums[i];
  return sum / weight;
}

// The detail step for every pixel. Without an order, blocks take 32 x 8 neighbouring pixels.
template <class Ops>
__global__ void __launch_bounds__(kThreads, 4)
    detail_kernel(DeviceView<const float> first, DeviceView<float> first_out,
                  const float* first_scaled, const Extremes* extremes, const float2* planes,
                  const std::uint8_t* levels, const std::uint32_t* order, std::size_t slots,
                  const float* exponents, const int* reach, int reach_radius) {
  const int frame = blockIdx.y;
  const double sigma_r = range_for_block(extremes + frame);
  const auto image = frame_of(first, frame);
  const std::size_t slot = std::size_t(blockIdx.x) * kThreads + threadIdx.x;
  if (slot >= slots) return;
  int x, y;
  if (order) {
    const std::uint32_t pixel = order[frame * slots + slot];
    x = int(pixel % image.width), y = int(pixel / image.width);
  } else {
    const int across = divide_up(image.width, int(kBlock.x));
    x = int(blockIdx.x) % across * kBlock.x + threadIdx.x % kBlock.x;
    y = int(blockIdx.x) / across * kBlock.y + threadIdx.x / kBlock.x;
    if (x >= image.width || y >= image.height) return;
  }
  if (!(sigma_r > 0)) {
    frame_of(first_out, frame)(x, y) = image(x, y);  // -0 stays -0
    return;
  }
  const std::size_t at = (std::size_t(frame) * image.height + y) * image.width + x;
  const int half = min(level_half_width(levels[at]), reach_radius);
  float mean = 0;
  if (half > 0) {
    const auto range = static_cast<float>(exponent_scale(sigma_r));
    const float* scaled = first_scaled + std::size_t(frame) * image.height * image.width;
    mean = mean_above_plane<Ops>(scaled, image.width, image.height, reach, exponents, reach_radius,
                                 x, y, half, planes[at].x * range, planes[at].y * range) /
           range;
  }
  frame_of(first_out, frame)(x, y) = image(x, y) + mean;
}

}  // namespace

DeviceTrilateral::DeviceTrilateral(const Context& context, const TrilateralOptions& options,
                                   const std::vector<int>& reach)
    : context_(context),
      sigma_(options.sigma),
      grouping_(options.grouping),
      exact_(options.exponential == Exponential::exact) {
  const DeviceGuard device(context_);
  // The most that any image needs: the attribute belongs to the kernel and is shared by all users.
  cuda_check(cudaFuncSetAttribute(level_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  stack_bytes(kMostLevels)),
             "trilateral levels: shared memory");
  reach_radius_ = static_cast<int>(reach.size()) - 1;
  const std::vector<float> exponents = window_exponents(sigma_, reach_radius_, reach_radius_);
  const auto upload = [&]<class T>(const std::vector<T>& from, Buffer& to) {
    cuda_check(
        cudaMemcpyAsync(to.reserve<T>(context_, from.size()), from.data(), from.size() * sizeof(T),
                        cudaMemcpyHostToDevice, cuda_stream(context_)),
        "uploading the windows");
  };
  upload(reach, reach_);
  upload(exponents, exponents_);
  context_.synchronize();
}

const std::uint8_t* DeviceTrilateral::enqueue_levels(DeviceView<const float> first, int images,
                                                     StageClock& clock) {
  const DeviceGuard device(context_);
  const cudaStream_t stream = cuda_stream(context_);
  const int w = first.width, h = first.height;
  const std::size_t pixels = std::size_t(w) * h * images;
  auto* extremes = extremes_.reserve<Extremes>(context_, images);
  auto* gradients = gradients_.reserve<Gradient>(context_, pixels);
  auto* squares = squares_.reserve<float>(context_, pixels);
  auto* levels = levels_.reserve<std::uint8_t>(context_, pixels);
  cuda_check(cudaMemsetAsync(extremes, 0, images * sizeof(Extremes), stream),
             "clearing the extremes");
  gradient_kernel<<<pixel_grid(w, h, images), kBlock, 0, stream>>>(first, gradients, squares,
                                                                   extremes);
  cuda_check_launch("trilateral gradients");
  clock.mark("gradients");
  const int count = trilateral_level_count(w, h);
  const int bytes = stack_bytes(count);
  const dim3 tiles(divide_up(h, kTile), divide_up(w, kTile), images);
  level_kernel<<<tiles, kThreads, bytes, stream>>>(squares, w, h, count, extremes, levels);
  cuda_check_launch("trilateral levels");
  clock.mark("min-max stack");
  return levels;
}

void DeviceTrilateral::enqueue(DeviceView<const float> first, DeviceView<float> first_out,
                               int images, StageClock& clock) {
  const DeviceGuard device(context_);
  const cudaStream_t stream = cuda_stream(context_);
  const int w = first.width, h = first.height;
  const std::uint8_t* levels = enqueue_levels(first, images, clock);
  const auto* extremes = extremes_.data<Extremes>();
  const auto spatial = static_cast<float>(exponent_scale(sigma_));
  auto* planes = planes_.reserve<float2>(context_, std::size_t(w) * h * images);
  auto* scaled = scaled_.reserve<float>(context_, std::size_t(w) * h * images);
  const auto smooth = exact_ ? smooth_kernel<FloatOps> : smooth_kernel<FastOps>;
  smooth<<<pixel_grid(w, h, images), kBlock, 0, stream>>>(gradients_.data<Gradient>(), w, h,
                                                          gradient_half_width(sigma_), spatial,
                                                          extremes, first, planes, scaled);
  cuda_check_launch("trilateral gradient smoothing");
  clock.mark("gradient smoothing");
  const TrilateralOrder order = enqueue_order(w, h, images);
  clock.mark("adaptive level");
  const dim3 grid(static_cast<unsigned>(divide_up<std::size_t>(order.slots, kThreads)), images);
  const auto detail = exact_ ? detail_kernel<FloatOps> : detail_kernel<FastOps>;
  detail<<<grid, kThreads, 0, stream>>>(first, first_out, scaled, extremes, planes, levels,
                                        order.pixels, order.slots, exponents_.data<float>(),
                                        reach_.data<int>(), reach_radius_);
  cuda_check_launch("trilateral detail");
  clock.mark("detail filter");
}

}  // namespace cornea::trilateral
