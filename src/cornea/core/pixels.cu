// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/cuda.h"
#include "cornea/core/pixels.h"

namespace cornea::core {
namespace {

// One thread per pixel; a block of 32 x 8 keeps each warp on one row. Image rows are mapped to the
// grid's x dimension, which allows 2^31 - 1 blocks.
constexpr dim3 kBlock(32, 8);

dim3 grid_for(int width, int height) {
  return dim3(divide_up<unsigned>(height, kBlock.y), divide_up<unsigned>(width, kBlock.x));
}

template <Working working, class From, class To>
__global__ void convert_kernel(DeviceView<const From> from, DeviceView<To> to) {
  const int x = blockIdx.y * blockDim.x + threadIdx.x;
  const int y = blockIdx.x * blockDim.y + threadIdx.y;
  if (x < from.width && y < from.height) to(x, y) = working_value<working>(from(x, y));
}

template <Working working>
void launch_convert(const Context& context, const AnyView& from, const AnyTarget& to) {
  with_pixel(from.pixel(), [&](auto pixel) {
    using From = decltype(pixel);
    using To = decltype(working_value<working>(pixel));
    convert_kernel<working, From, To>
        <<<grid_for(from.width(), from.height()), kBlock, 0, cuda_stream(context)>>>(
            from.device<From>(), to.device<To>());
  });
}

// Each thread checks several pixels of a row, so that their loads overlap.
constexpr int kLooks = 8;
template <class T>
__global__ void usable_kernel(DeviceView<const T> image, FloatLimits limits, int* flag) {
  const int x = blockIdx.y * (blockDim.x * kLooks) + threadIdx.x;
  const int y = blockIdx.x * blockDim.y + threadIdx.y;
  if (y >= image.height) return;
  float v[kLooks];
#pragma unroll
  for (int i = 0; i < kLooks; ++i) {
    const int column = x + i * int(blockDim.x);
    v[i] = column < image.width ? gray_value(image(column, y)) : 0.0f;
  }
  bool usable = true;
#pragma unroll
  for (int i = 0; i < kLooks; ++i) usable &= is_usable(v[i], limits);
  if (usable) return;
  int worst = 0;
#pragma unroll
  for (int i = 0; i < kLooks; ++i) {
    if (!is_usable(v[i], limits)) worst = max(worst, badness(v[i]));
  }
  // The flag may lie in host memory; the test keeps almost all bad pixels from reaching the atomic.
  if (worst > *static_cast<volatile int*>(flag)) atomicMax(flag, worst);
}

// A copy or a memset by the runtime may not be captured in a graph for every kind of host memory.
__global__ void clear_kernel(int* flag) { *flag = 0; }

}  // namespace

void convert_on_device(const Context& context, const AnyView& from, Working working,
                       const AnyTarget& to) {
  const DeviceGuard device(context);
  switch (working) {
    case Working::stored:
      fail(ErrorCode::internal, "pixels as they are stored need no conversion");
    case Working::gray:
      launch_convert<Working::gray>(context, from, to);
      break;
    case Working::integers:
      launch_convert<Working::integers>(context, from, to);
      break;
    case Working::levels:
      launch_convert<Working::levels>(context, from, to);
      break;
  }
  cuda_check_launch("conversion of pixels");
}

void flag_unusable(const Context& context, const AnyView& image, FloatLimits limits, int* flag) {
  const DeviceGuard device(context);
  auto launch = [&](auto pixels) {
    usable_kernel<<<grid_for(divide_up(pixels.width, kLooks), pixels.height), kBlock, 0,
                    cuda_stream(context)>>>(pixels, limits, flag);
  };
  is_rgb(image.pixel()) ? launch(image.device<Rgb<float>>()) : launch(image.device<float>());
  cuda_check_launch("check of float pixels");
}

void clear_flag(const Context& context, int* flag) {
  const DeviceGuard device(context);
  clear_kernel<<<1, 1, 0, cuda_stream(context)>>>(flag);
  cuda_check_launch("clearing the flag of float pixels");
}

}  // namespace cornea::core
