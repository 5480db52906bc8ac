#include "cornea/core/cuda.h"
#include "cornea/core/stack.h"
#include "cornea/filter/bilateral/bilateral_windows.h"
#include "cornea/filter/bilateral/range_window.h"

namespace cornea::bilateral {
namespace {

using namespace core;

constexpr dim3 kBlock(32, 8);

__global__ void __launch_bounds__(256)
    bilateral_kernel(DeviceView<const float> first, DeviceView<float> first_out, RangeWindow window,
                     int radius) {
  const auto image = frame_of(first, blockIdx.z);
  const int x = blockIdx.y * kBlock.x + threadIdx.x, y = blockIdx.x * kBlock.y + threadIdx.y;
  if (x >= image.width || y >= image.height) return;
  frame_of(first_out, blockIdx.z)(x, y) =
      image(x, y) + window_mean(image, window, Level(), x, y, radius);
}

}  // namespace

void Windows::enqueue_windows(DeviceView<const float> first, DeviceView<float> first_out,
                              int images, float unit) {
  const DeviceGuard device(context());
  const RangeWindow window{static_cast<float>(exponent_scale(options_.sigma)),
                           static_cast<float>(exponent_scale(options_.sigma_range * unit)),
                           nullptr};
  // Rows go along the grid's first index: only that one may be large.
  const dim3 grid(divide_up(first.height, int(kBlock.y)), divide_up(first.width, int(kBlock.x)),
                  images);
  bilateral_kernel<<<grid, kBlock, 0, cuda_stream(context())>>>(first, first_out, window, radius_);
  cuda_check_launch("bilateral filter");
}

}  // namespace cornea::bilateral
