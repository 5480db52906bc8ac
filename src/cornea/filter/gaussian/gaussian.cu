// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>

#include "cornea/core/cuda.h"
#include "cornea/core/stack.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/filter/gaussian/reflect.h"

namespace cornea::gaussian {
namespace {

using namespace core;

// Most weights that are passed as kernel parameters.
constexpr int kMostWeights = 21;
struct Weights {
  float weight[kMostWeights];
};

// Small tiles are used if large ones would leave multiprocessors idle: they then take half the
// time, although their halos mean more work in total.
struct TileShape {
  int width, height;
};
constexpr TileShape kLargeTile{64, 32}, kSmallTile{32, 16};
constexpr int kFewTiles = 264;  // two per multiprocessor of an H200
constexpr int kThreads = 256;
constexpr int kAcross = 4;  // outputs per thread along x
CORNEA_HD constexpr int round_up4(int v) { return (v + 3) / 4 * 4; }

// sum_k weight[|k - radius|] v[k], k = 0 .. 2 radius, with fused multiply-adds in the CPU's order.
template <int radius>
__device__ float weighted_sum(const Weights& w, const float* v) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k <= 2 * radius; ++k) {
    sum = __fmaf_rn(w.weight[k < radius ? radius - k : k - radius], v[k], sum);
  }
  return sum;
}

// Loads a tile with its halo into shared memory, blurs it along x there, and then along y.
template <int radius, int kTileWidth, int kTileHeight>
__global__ void __launch_bounds__(kThreads)
    tile_kernel(DeviceView<const float> first, DeviceView<float> first_out,
                const __grid_constant__ Weights weights) {
  constexpr int kDown = kTileWidth * kTileHeight / kThreads;  // outputs per thread along y
  constexpr int kRows = kTileHeight + 2 * radius;
  // The tile begins at a multiple of 16 bytes.
  constexpr int kBefore = round_up4(radius), kPitch = kBefore + kTileWidth + round_up4(radius);
  __shared__ __align__(16) float tile[kRows][kPitch];
  __shared__ __align__(16) float rows[kRows][kTileWidth];
  const auto image = frame_of(first, blockIdx.z);
  const int left = int(blockIdx.y) * kTileWidth, top = int(blockIdx.x) * kTileHeight;

  const bool inside = left >= kBefore && top >= radius &&
                      left + kTileWidth + round_up4(radius) <= image.width &&
                      top + kTileHeight + radius <= image.height;
  const bool aligned =
      image.stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(image.data) % sizeof(float4) == 0;
  if (inside && aligned) {
    constexpr int kFours = kPitch / 4;
#pragma unroll 4
    for (int i = threadIdx.x; i < kRows * kFours; i += kThreads) {
      const int row = i / kFours, column = i % kFours * 4;
      *reinterpret_cast<float4*>(&tile[row][column]) = __ldg(
          reinterpret_cast<const float4*>(image.row(top - radius + row) + left - kBefore + column));
    }
  } else {
    __shared__ int columns[kPitch],
        lines[kRows];  // source index of each column and row, mirrored at the border
    for (int i = threadIdx.x; i < kPitch + kRows; i += kThreads) {
      if (i < kPitch) {
        columns[i] = reflect101(left - kBefore + i, image.width);
      } else {
        lines[i - kPitch] = reflect101(top - radius + i - kPitch, image.height);
      }
    }
    __syncthreads();
#pragma unroll 8
    for (int i = threadIdx.x; i < kRows * kPitch; i += kThreads) {
      const int row = i / kPitch, column = i % kPitch;
      tile[row][column] = __ldg(image.row(lines[row]) + columns[column]);
    }
  }
  __syncthreads();

  constexpr int kGroups = kTileWidth / kAcross;
  for (int i = threadIdx.x; i < kRows * kGroups; i += kThreads) {
    const int row = i / kGroups, x = i % kGroups * kAcross;
    constexpr int kWindow = kBefore + kAcross + round_up4(radius);
    float v[kWindow];
#pragma unroll
    for (int k = 0; k < kWindow; k += 4) {
      const float4 four = *reinterpret_cast<const float4*>(&tile[row][x + k]);
      v[k] = four.x, v[k + 1] = four.y, v[k + 2] = four.z, v[k + 3] = four.w;
    }
    float out[kAcross];
#pragma unroll
    for (int k = 0; k < kAcross; ++k) {
      out[k] = weighted_sum<radius>(weights, v + kBefore - radius + k);
    }
    *reinterpret_cast<float4*>(&rows[row][x]) = {out[0], out[1], out[2], out[3]};
  }
  __syncthreads();

  const int x = threadIdx.x % kTileWidth, begin = threadIdx.x / kTileWidth * kDown;
  float v[kDown + 2 * radius];
#pragma unroll
  for (int k = 0; k < kDown + 2 * radius; ++k) v[k] = rows[begin + k][x];
  if (left + x >= image.width) return;
  float* out = frame_of(first_out, blockIdx.z).row(top + begin) + left + x;
#pragma unroll
  for (int k = 0; k < kDown; ++k) {
    if (top + begin + k >= image.height) break;
    out[k * first_out.stride] = weighted_sum<radius>(weights, v + k);
  }
}

// Any radius, one direction: one thread per pixel.
template <bool along_x>
__global__ void line_kernel(DeviceView<const float> first, DeviceView<float> first_out,
                            const float* weights, int radius) {
  const auto image = frame_of(first, blockIdx.z);
  const int x = int(blockIdx.y * blockDim.x + threadIdx.x);
  const int y = int(blockIdx.x * blockDim.y + threadIdx.y);
  if (x >= image.width || y >= image.height) return;
  float sum = 0;
  for (int i = 0; i < 2 * radius + 1; ++i) {
    const int k = i - radius;
    const float value = along_x ? image(reflect101(x + k, image.width), y)
                                : image(x, reflect101(y + k, image.height));
    sum = __fmaf_rn(__ldg(weights + (k < 0 ? -k : k)), value, sum);
  }
  frame_of(first_out, blockIdx.z)(x, y) = sum;
}

template <int radius>
void launch_tiles(cudaStream_t stream, DeviceView<const float> first, DeviceView<float> out,
                  int images, const Weights& weights) {
  auto grid_of = [&](TileShape tile) {
    return dim3(divide_up(first.height, tile.height), divide_up(first.width, tile.width), images);
  };
  const dim3 large = grid_of(kLargeTile), small = grid_of(kSmallTile);
  if (large.x * large.y * images >= kFewTiles) {
    tile_kernel<radius, kLargeTile.width, kLargeTile.height>
        <<<large, kThreads, 0, stream>>>(first, out, weights);
  } else {
    tile_kernel<radius, kSmallTile.width, kSmallTile.height>
        <<<small, kThreads, 0, stream>>>(first, out, weights);
  }
}

}  // namespace

void Blur::upload_weights() {
  if (radius_ <= kMostTiled) return;
  const DeviceGuard device(context());
  auto* to = device_weights_.reserve<float>(context(), weights_.size());
  cuda_check(cudaMemcpyAsync(to, weights_.data(), weights_.size() * sizeof(float),
                             cudaMemcpyHostToDevice, cuda_stream(context())),
             "uploading a Gaussian's weights");
  context().synchronize();
}

void Blur::enqueue_on(void* on, DeviceView<const float> first, DeviceView<float> first_out,
                      int images) {
  static_assert(kMostTiled < kMostWeights);
  require(on == context().stream() || runs_on_any_stream(), "this blur runs on its own stream");
  const DeviceGuard device(context());
  const auto stream = static_cast<cudaStream_t>(on);
  if (radius_ == 0) {
    const std::size_t row = first.width * sizeof(float);
    context().copy_on_device(first_out.data, first_out.stride * sizeof(float), first.data,
                             first.stride * sizeof(float), row, std::size_t(first.height) * images);
    return;
  }
  if (radius_ <= kMostTiled) {
    Weights weights;
    std::copy(weights_.begin(), weights_.end(), weights.weight);
    [&]<int... r>(std::integer_sequence<int, r...>) {
      ((radius_ == r + 1 ? launch_tiles<r + 1>(stream, first, first_out, images, weights) : void()),
       ...);
    }
    (std::make_integer_sequence<int, kMostTiled>{});
    cuda_check_launch("Gaussian tiles");
    return;
  }
  const DeviceView<float> rows(
      rows_.reserve<float>(context(), std::size_t(first.width) * first.height * images),
      first.width, first.height);
  const dim3 block(32, 8);
  const dim3 grid(divide_up(first.height, 8), divide_up(first.width, 32), images);
  const auto* weights = device_weights_.data<float>();
  line_kernel<true><<<grid, block, 0, stream>>>(first, rows, weights, radius_);
  line_kernel<false><<<grid, block, 0, stream>>>(rows, first_out, weights, radius_);
  cuda_check_launch("Gaussian lines");
}

}  // namespace cornea::gaussian
