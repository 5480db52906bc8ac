#include "cornea/core/cuda.h"
#include "cornea/core/pixels.h"

namespace cornea {
namespace {

// One pixel a thread; 32 x 8 keeps a warp on one row. Rows lie along the grid's x, which has no
// limit.
constexpr dim3 kBlock(32, 8);

dim3 grid_for(int width, int height) {
  return dim3(divide_up<unsigned>(height, kBlock.y), divide_up<unsigned>(width, kBlock.x));
}

template <class T>
__global__ void gray_kernel(DeviceView<const Rgb<T>> rgb, DeviceView<T> gray) {
  const int x = blockIdx.y * blockDim.x + threadIdx.x;
  const int y = blockIdx.x * blockDim.y + threadIdx.y;
  if (x < rgb.width && y < rgb.height) gray(x, y) = gray_value(rgb(x, y));
}

__global__ void u16_kernel(DeviceView<const float> from, DeviceView<std::uint16_t> to) {
  const int x = blockIdx.y * blockDim.x + threadIdx.x;
  const int y = blockIdx.x * blockDim.y + threadIdx.y;
  if (x < from.width && y < from.height) to(x, y) = u16_from_unit(from(x, y));
}

// A thread looks at a few pixels of a row, so that their loads do not wait for each other.
constexpr int kLooks = 8;
__global__ void usable_kernel(DeviceView<const float> image, int* flag) {
  const int x = blockIdx.y * (blockDim.x * kLooks) + threadIdx.x;
  const int y = blockIdx.x * blockDim.y + threadIdx.y;
  if (y >= image.height) return;
  float v[kLooks];
#pragma unroll
  for (int i = 0; i < kLooks; ++i) {
    const int column = x + i * int(blockDim.x);
    v[i] = column < image.width ? image(column, y) : 0.0f;
  }
  bool usable = true;
#pragma unroll
  for (int i = 0; i < kLooks; ++i) usable &= is_usable(v[i]);
  if (!usable) *flag = 1;
}

}  // namespace

template <class T>
void gray_from_rgb(const Context& context, DeviceView<const Rgb<T>> rgb, DeviceView<T> gray) {
  const DeviceGuard device(context);
  gray_kernel<T><<<grid_for(rgb.width, rgb.height), kBlock, 0, cuda_stream(context)>>>(rgb, gray);
  cuda_check_launch("colour to gray");
}

void u16_from_float(const Context& context, DeviceView<const float> from,
                    DeviceView<std::uint16_t> to) {
  const DeviceGuard device(context);
  u16_kernel<<<grid_for(from.width, from.height), kBlock, 0, cuda_stream(context)>>>(from, to);
  cuda_check_launch("float to 16 bit");
}

void flag_unusable(const Context& context, DeviceView<const float> image, int* flag) {
  const DeviceGuard device(context);
  usable_kernel<<<grid_for(divide_up(image.width, kLooks), image.height), kBlock, 0,
                  cuda_stream(context)>>>(image, flag);
  cuda_check_launch("check of float pixels");
}

template void gray_from_rgb(const Context&, DeviceView<const Rgb<std::uint8_t>>,
                            DeviceView<std::uint8_t>);
template void gray_from_rgb(const Context&, DeviceView<const Rgb<std::uint16_t>>,
                            DeviceView<std::uint16_t>);
template void gray_from_rgb(const Context&, DeviceView<const Rgb<float>>, DeviceView<float>);

}  // namespace cornea
