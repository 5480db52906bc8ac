// The order in which threads take pixels: those with equal windows together.
#include <cub/device/device_radix_sort.cuh>

#include "cornea/core/cuda.h"
#include "cornea/filter/trilateral/device_trilateral.h"

namespace cornea {
namespace {

constexpr int kWarp = 32;
constexpr int kTile = 32;    // a thread a pixel, a warp a row
constexpr int kLevels = 22;  // of images up to 2^20 a side, and what lies outside them

// A tile's pixels by falling level, in reading order within a level; what lies outside the image
// comes last.
__global__ void __launch_bounds__(kTile* kTile)
    tile_order_kernel(const std::uint8_t* levels, int width, int height, std::uint32_t* order) {
  __shared__ int places[kLevels][kTile];  // where a row's pixels of a level go
  const int lane = threadIdx.x, row = threadIdx.y;
  const int x = int(blockIdx.y) * kTile + lane, y = int(blockIdx.x) * kTile + row;
  const bool inside = x < width && y < height;
  const std::size_t frame = std::size_t(blockIdx.z) * width * height;
  const int group = inside ? kLevels - 2 - levels[frame + std::size_t(y) * width + x] : kLevels - 1;
  int before = 0;  // of the same group in this row
  for (int g = 0; g < kLevels; ++g) {
    const std::uint32_t same = __ballot_sync(~0u, group == g);
    if (lane == 0) places[g][row] = __popc(same);
    if (group == g) before = __popc(same & ((1u << lane) - 1));
  }
  __syncthreads();
  if (row == 0) {
    int total = 0;
    for (int g = 0; g < kLevels; ++g) {
      const int count = places[g][lane];
      int sum = count;
      for (int step = 1; step < kWarp; step *= 2) {
        const int other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
      }
      places[g][lane] = total + sum - count;
      total += __shfl_sync(~0u, sum, kWarp - 1);
    }
  }
  __syncthreads();
  const std::size_t tile =
      (std::size_t(blockIdx.z) * gridDim.x + blockIdx.x) * gridDim.y + blockIdx.y;
  order[tile * kTile * kTile + places[group][row] + before] =
      inside ? std::uint32_t(y) * width + x : kNoPixel;
}

__global__ void count_up_kernel(std::uint32_t* values, std::size_t count) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) values[i] = static_cast<std::uint32_t>(i);
}

}  // namespace

TrilateralOrder DeviceTrilateral::enqueue_order(int width, int height, int images) {
  const cudaStream_t stream = cuda_stream(context_);
  const auto* levels = levels_.data<std::uint8_t>();
  const std::size_t pixels = std::size_t(width) * height;
  TrilateralOrder order;
  if (grouping_ == Grouping::tiles) {
    const dim3 tiles(divide_up(height, kTile), divide_up(width, kTile), images);
    order.slots = std::size_t(tiles.x) * tiles.y * kTile * kTile;
    auto* to = order_.reserve<std::uint32_t>(context_, order.slots * images);
    tile_order_kernel<<<tiles, dim3(kTile, kTile), 0, stream>>>(levels, width, height, to);
    cuda_check_launch("trilateral order of tiles");
    order.pixels = to;
  } else if (grouping_ == Grouping::sorted) {
    order.slots = pixels;
    auto* to = order_.reserve<std::uint32_t>(context_, pixels * images);
    auto* keys = sort_keys_.reserve<std::uint8_t>(context_, pixels);
    auto* values = sort_values_.reserve<std::uint32_t>(context_, pixels);
    count_up_kernel<<<static_cast<unsigned>(divide_up<std::size_t>(pixels, 256)), 256, 0, stream>>>(
        values, pixels);
    cuda_check_launch("trilateral pixels to sort");
    std::size_t bytes = 0;
    auto sort = [&](void* scratch, int image) {
      cuda_check(cub::DeviceRadixSort::SortPairsDescending(scratch, bytes, levels + image * pixels,
                                                           keys, values, to + image * pixels,
                                                           pixels, 0, 5, stream),
                 "sorting pixels by level");
    };
    sort(nullptr, 0);
    void* scratch = sort_scratch_.reserve_bytes(context_, bytes);
    for (int image = 0; image < images; ++image) sort(scratch, image);
    order.pixels = to;
  } else {
    // As they lie, in blocks of 32 x 8.
    order.slots = std::size_t(divide_up(width, 32)) * divide_up(height, 8) * 256;
  }
  return order;
}

}  // namespace cornea
