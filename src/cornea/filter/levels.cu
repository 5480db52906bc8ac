// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/cuda.h"
#include "cornea/filter/levels.h"

namespace cornea::filter {
namespace {

using namespace core;

constexpr dim3 kBlock(32, 8);

template <class T>
__global__ void from_levels_kernel(DeviceView<const float> from, DeviceView<T> to) {
  const int x = blockIdx.y * kBlock.x + threadIdx.x, y = blockIdx.x * kBlock.y + threadIdx.y;
  if (x < to.width && y < to.height) set_level(to(x, y), from(x, y));
}

}  // namespace

void from_levels(const Context& context, DeviceView<const float> from, const AnyTarget& to) {
  const DeviceGuard device(context);
  // Rows are mapped to the grid's x dimension, the only one that may be large.
  const dim3 grid(divide_up(from.height, int(kBlock.y)), divide_up(from.width, int(kBlock.x)));
  with_gray(to.view().pixel(), [&](auto type) {
    from_levels_kernel<<<grid, kBlock, 0, cuda_stream(context)>>>(from,
                                                                  to.device<decltype(type)>());
  });
  cuda_check_launch("levels to pixels");
}

}  // namespace cornea::filter
