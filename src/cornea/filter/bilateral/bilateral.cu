#include "cornea/core/cuda.h"
#include "cornea/core/stack.h"
#include "cornea/filter/bilateral/bilateral_windows.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea::bilateral {
namespace {

using namespace core;

constexpr dim3 kBlock(32, 8);
// Pixels of a thread, one below the other: what is read serves all of them.
constexpr int kPixels = 2;

__global__ void __launch_bounds__(256)
    scale_kernel(DeviceView<const float> first, DeviceView<float> first_scaled, float scale) {
  const int x = blockIdx.y * kBlock.x + threadIdx.x, y = blockIdx.x * kBlock.y + threadIdx.y;
  if (x >= first.width || y >= first.height) return;
  frame_of(first_scaled, blockIdx.z)(x, y) = frame_of(first, blockIdx.z)(x, y) * scale;
}

// The sums of the pixels of a thread.
struct Sums {
  float weights[kPixels] = {}, sums[kPixels] = {};

  // Adds a neighbour to each; `exponent` holds the distances' part.
  __device__ void add(float value, const float (&own)[kPixels], const float (&exponent)[kPixels]) {
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      const float d = value - own[i];
      const float w = power_of_two<FloatOps>(fmaf(-d, d, exponent[i]));
      weights[i] += w;
      sums[i] = fmaf(w, d, sums[i]);
    }
  }
  __device__ void add(float value, const float (&own)[kPixels], const float (&rows)[kPixels],
                      float column) {
    float exponent[kPixels];
#pragma unroll
    for (int i = 0; i < kPixels; ++i) exponent[i] = column + rows[i];
    add(value, own, exponent);
  }
};

// Adds as the CPU does (range_sums.cc): what comes before a pixel in reading order, in that order,
// with sums of their own for the rows of the CPU's piece before; then what follows it, column after
// column from right to left, each downwards. `scaled` is the image times the exponent's scale of
// differences.
__global__ void __launch_bounds__(256)
    bilateral_kernel(DeviceView<const float> first_scaled, DeviceView<const float> first,
                     DeviceView<float> first_out, float spatial, float range, int radius,
                     int rows_per_piece) {
  extern __shared__ float exponents[];  // by distance; beyond the radius there is no weight
  for (int i = threadIdx.y * kBlock.x + threadIdx.x; i < radius + 1 + kPixels;
       i += kBlock.x * kBlock.y) {
    exponents[i] = i <= radius ? distance_exponent(spatial, i) : kNoWeight;
  }
  __syncthreads();
  const auto image = frame_of(first_scaled, blockIdx.z);
  const int x = blockIdx.y * kBlock.x + threadIdx.x;
  const int y = (blockIdx.x * kBlock.y + threadIdx.y) * kPixels;
  if (x >= image.width || y >= image.height) return;
  const int left = max(-radius, -x), right = min(radius, image.width - 1 - x);
  float own[kPixels];
  int piece[kPixels];  // its first row
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    own[i] = __ldg(image.row(min(y + i, image.height - 1)) + x);
    piece[i] = (y + i) / rows_per_piece * rows_per_piece;
  }

  // Loops count from zero: nvcc 13.0 was seen to run one step too many of a loop up to and with a
  // limit that is only known at run time.
  Sums before, preceding;
  const int top = max(0, y - radius), rows = min(image.height, y + kPixels) - top;
  for (int j = 0; j < rows; ++j) {
    float row[kPixels], centre_row[kPixels];  // left of the centre, and from it on
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      const int n = top + j - (y + i);
      row[i] = n > 0 ? kNoWeight : exponents[-n];
      centre_row[i] = n >= 0 ? kNoWeight : row[i];
      if (top + j == piece[i]) {
        before.weights[i] = preceding.weights[i], before.sums[i] = preceding.sums[i];
        preceding.weights[i] = preceding.sums[i] = 0;
      }
    }
    const float* values = image.row(top + j) + x;
#pragma unroll 4
    for (int k = 0; k < -left; ++k) {
      preceding.add(__ldg(values + left + k), own, row, exponents[-left - k]);
    }
    if (top + j >= y + kPixels - 1) continue;
#pragma unroll 4
    for (int m = 0; m < right + 1; ++m) {
      preceding.add(__ldg(values + m), own, centre_row, exponents[m]);
    }
  }

  Sums following;
  const int below = min(image.height, y + kPixels + radius) - y;
  for (int k = 0; k < right - left + 1; ++k) {
    const int m = right - k;
    const float column = exponents[abs(m)];
    const float* values = image.row(y) + x + m;
    // Rows of the thread's own pixels: the first that follows is on the right, or one below.
    const int near = min(kPixels, below);
#pragma unroll
    for (int j = 0; j < kPixels; ++j) {
      if (j >= near) break;
      float row[kPixels];
#pragma unroll
      for (int i = 0; i < kPixels; ++i) {
        row[i] = j > i || (j == i && m > 0) ? exponents[j > i ? j - i : 0] : kNoWeight;
      }
      following.add(__ldg(values + j * image.stride), own, row, column);
    }
    const float* far = values + kPixels * image.stride;
#pragma unroll 4
    for (int j = kPixels; j < below; ++j, far += image.stride) {
      float row[kPixels];
#pragma unroll
      for (int i = 0; i < kPixels; ++i) row[i] = exponents[j - i];
      following.add(__ldg(far), own, row, column);
    }
  }

  const auto source = frame_of(first, blockIdx.z);
  const auto out = frame_of(first_out, blockIdx.z);
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    if (y + i >= image.height) break;
    const float sum = (preceding.sums[i] + following.sums[i]) + before.sums[i];
    const float weight = 1 + ((preceding.weights[i] + following.weights[i]) + before.weights[i]);
    out(x, y + i) = source(x, y + i) + sum / (weight * range);
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
  // Rows go along the grid's first index: only that one may be large.
  auto grid = [&](int rows) {
    return dim3(divide_up(h, rows), divide_up(w, int(kBlock.x)), images);
  };
  scale_kernel<<<grid(kBlock.y), kBlock, 0, stream>>>(first, scaled, range);
  cuda_check_launch("bilateral filter: differences in units of their sigma");
  const std::size_t bytes = (radius + 1 + kPixels) * sizeof(float);
  bilateral_kernel<<<grid(kBlock.y * kPixels), kBlock, bytes, stream>>>(
      scaled, first, first_out, spatial, range, radius, rows_per_piece(radius));
  cuda_check_launch("bilateral filter");
}

}  // namespace cornea::bilateral
