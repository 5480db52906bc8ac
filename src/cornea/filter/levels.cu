#include "cornea/core/cuda.h"
#include "cornea/filter/levels.h"

namespace cornea {
namespace {

constexpr dim3 kBlock(32, 8);

// Rows go along the grid's first index: only that one may be large.
dim3 grid_of(int width, int height) {
  return dim3(divide_up(height, int(kBlock.y)), divide_up(width, int(kBlock.x)));
}

template <class T>
__global__ void to_levels_kernel(DeviceView<const T> from, DeviceView<float> to) {
  const int x = blockIdx.y * kBlock.x + threadIdx.x, y = blockIdx.x * kBlock.y + threadIdx.y;
  if (x < to.width && y < to.height) to(x, y) = level_of(from(x, y));
}

template <class T>
__global__ void from_levels_kernel(DeviceView<const float> from, DeviceView<T> to) {
  const int x = blockIdx.y * kBlock.x + threadIdx.x, y = blockIdx.x * kBlock.y + threadIdx.y;
  if (x < to.width && y < to.height) set_level(to(x, y), from(x, y));
}

}  // namespace

void to_levels(const Context& context, AnyView from, DeviceView<float> to) {
  const DeviceGuard device(context);
  auto convert = [&](auto pixels) {
    to_levels_kernel<<<grid_of(to.width, to.height), kBlock, 0, cuda_stream(context)>>>(pixels, to);
  };
  with_gray(channel_of(from.pixel()), [&](auto type) {
    using T = decltype(type);
    is_rgb(from.pixel()) ? convert(from.device<Rgb<T>>()) : convert(from.device<T>());
  });
  cuda_check_launch("pixels to levels");
}

void from_levels(const Context& context, DeviceView<const float> from, const AnyTarget& to) {
  const DeviceGuard device(context);
  with_gray(to.view().pixel(), [&](auto type) {
    from_levels_kernel<<<grid_of(from.width, from.height), kBlock, 0, cuda_stream(context)>>>(
        from, to.device<decltype(type)>());
  });
  cuda_check_launch("levels to pixels");
}

}  // namespace cornea
