// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/cuda.h"
#include "cornea/core/stack.h"
#include "cornea/filter/bilateral/bilateral_windows.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea::bilateral {
namespace {

using namespace core;

constexpr dim3 kBlock(32, 8);
// Neighbouring pixels per thread; each value that is loaded serves all of them.
constexpr int kPixels = 2;

__global__ void __launch_bounds__(256)
    scale_kernel(DeviceView<const float> first, DeviceView<float> first_scaled, float scale) {
  const int x = blockIdx.y * kBlock.x + threadIdx.x, y = blockIdx.x * kBlock.y + threadIdx.y;
  if (x >= first.width || y >= first.height) return;
  frame_of(first_scaled, blockIdx.z)(x, y) = frame_of(first, blockIdx.z)(x, y) * scale;
}

// The sums of weights and of weighted differences of one pixel.
template <class Ops>
struct Sums {
  float weights = 0, sum = 0;

  __device__ void add(float value, float own, float place) {
    const float d = value - own;
    const float w = weight<Ops>(d, place);
    weights += w;
    sum = fmaf(w, d, sum);
  }
};

// Adds in the same order as the CPU (range_sums.cc). First the neighbours before the pixel in
// reading order, with separate sums for those rows that belong to the CPU's previous piece; then
// the neighbours after it, column by column from right to left, each column downwards. `scaled` is
// the image times the exponent's scale k_r.
template <class Ops>
__global__ void __launch_bounds__(256)
    bilateral_kernel(DeviceView<const float> first_scaled, DeviceView<const float> first,
                     DeviceView<float> first_out, float spatial, float range, int radius,
                     int rows_per_piece) {
  // Exponents by distance: rows from 0, columns from -radius - kPixels to radius + kPixels. Beyond
  // the radius the weight is zero.
  extern __shared__ float of_row[];
  float* const of_column = of_row + radius + 1 + radius + kPixels;
  for (int i = threadIdx.y * kBlock.x + threadIdx.x; i < radius + 1 + kPixels;
       i += kBlock.x * kBlock.y) {
    if (i <= radius) of_row[i] = row_exponent(spatial, i);
    of_column[i] = of_column[-i] = i <= radius ? column_exponent(spatial, i) : kNoWeight;
  }
  __syncthreads();
  const auto image = frame_of(first_scaled, blockIdx.z);
  const int x = (blockIdx.y * kBlock.x + threadIdx.x) * kPixels;
  const int y = blockIdx.x * kBlock.y + threadIdx.y;
  if (x >= image.width || y >= image.height) return;
  const float* here = image.row(y) + x;
  float own[kPixels];
#pragma unroll
  for (int i = 0; i < kPixels; ++i) own[i] = __ldg(here + min(i, image.width - 1 - x));

  // Columns relative to x. Loops count from zero, because nvcc 13.0 was observed to run one
  // iteration too many of a loop with an inclusive upper limit that is known only at run time.
  const int left = max(-radius, -x), right = min(radius + kPixels - 1, image.width - 1 - x);
  const int columns = right - left + 1;
  Sums<Ops> before[kPixels], preceding[kPixels], following[kPixels];
  const int top = max(-radius, -y), piece = y / rows_per_piece * rows_per_piece - y;
  const float* row = here + top * image.stride + left;
  for (int n = top; n < 0; ++n, row += image.stride) {
    if (n == piece) {
#pragma unroll
      for (int i = 0; i < kPixels; ++i) before[i] = preceding[i], preceding[i] = Sums<Ops>();
    }
    const float row_part = of_row[-n];
#pragma unroll 8
    for (int k = 0; k < columns; ++k) {
      const float value = __ldg(row + k);
#pragma unroll
      for (int i = 0; i < kPixels; ++i) {
        preceding[i].add(value, own[i], of_column[left + k - i] + row_part);
      }
    }
  }
  if (piece == 0) {
#pragma unroll
    for (int i = 0; i < kPixels; ++i) before[i] = preceding[i], preceding[i] = Sums<Ops>();
  }
  // The pixel's own row: the neighbours to its left.
  for (int k = 0; k < kPixels - 1 - left; ++k) {
    const float value = __ldg(here + min(left + k, image.width - 1 - x));
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      if (left + k < i) preceding[i].add(value, own[i], of_column[left + k - i] + of_row[0]);
    }
  }

  const int rows = min(radius, image.height - 1 - y);
  for (int k = 0; k < columns; ++k) {
    const int m = right - k;
    const float* value = here + m;
    float column_part[kPixels];
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      column_part[i] = of_column[m - i];
      if (m > i) following[i].add(__ldg(value), own[i], column_part[i] + of_row[0]);
    }
#pragma unroll 8
    for (int j = 0; j < rows; ++j) {
      value += image.stride;
      const float row_part = of_row[j + 1], one = __ldg(value);
#pragma unroll
      for (int i = 0; i < kPixels; ++i) following[i].add(one, own[i], column_part[i] + row_part);
    }
  }

  const auto source = frame_of(first, blockIdx.z);
  const auto out = frame_of(first_out, blockIdx.z);
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    if (x + i >= image.width) break;
    const float sum = (preceding[i].sum + following[i].sum) + before[i].sum;
    const float weight = 1 + ((preceding[i].weights + following[i].weights) + before[i].weights);
    out(x + i, y) = source(x + i, y) + sum / (weight * range);
  }
}

}  // namespace

void Windows::enqueue_windows(DeviceView<const float> first, DeviceView<float> first_out,
                              int images, float unit) {
  const DeviceGuard device(context());
  const cudaStream_t stream = cuda_stream(context());
  const auto spatial = static_cast<float>(exponent_scale(options_.sigma));
  const auto range = static_cast<float>(exponent_scale(options_.sigma_range * unit));
  const int w = first.width, h = first.height, radius = radius_of(w, h);
  const DeviceView<float> scaled(scaled_.reserve<float>(context(), std::size_t(w) * h * images), w,
                                 h);
  // Rows are mapped to the grid's x dimension, the only one that may be large.
  auto grid = [&](int pixels) {
    return dim3(divide_up(h, int(kBlock.y)), divide_up(w, int(kBlock.x) * pixels), images);
  };
  scale_kernel<<<grid(1), kBlock, 0, stream>>>(first, scaled, range);
  cuda_check_launch("bilateral filter: differences in units of their sigma");
  const std::size_t bytes = (3 * radius + 2 * kPixels + 2) * sizeof(float);
  const auto kernel = options_.exponential == Exponential::exact ? bilateral_kernel<FloatOps>
                                                                 : bilateral_kernel<FastOps>;
  constexpr std::size_t kUsualShared = 48 << 10;  // bytes that a kernel gets without asking
  if (bytes > kUsualShared) {
    cuda_check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)),
        "bilateral filter: shared memory");
  }
  kernel<<<grid(kPixels), kBlock, bytes, stream>>>(scaled, first, first_out, spatial, range, radius,
                                                   rows_per_piece(radius));
  cuda_check_launch("bilateral filter");
}

}  // namespace cornea::bilateral
