// SPDX-License-Identifier: Apache-2.0
// The order in which threads process pixels: pixels with equal windows together.
#include <cub/device/device_radix_sort.cuh>

#include "cornea/core/cuda.h"
#include "cornea/filter/trilateral/device_trilateral.h"

namespace cornea::trilateral {
namespace {

using namespace core;

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
  if (grouping_ == Grouping::sorted) {
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
    // Memory order, in blocks of 32 x 8.
    order.slots = std::size_t(divide_up(width, 32)) * divide_up(height, 8) * 256;
  }
  return order;
}

}  // namespace cornea::trilateral
