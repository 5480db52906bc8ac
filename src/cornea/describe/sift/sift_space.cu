// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/stack.h"
#include "cornea/describe/sift/device_sift.h"

namespace cornea::sift {
namespace {

using namespace core;

constexpr int kColumns = 32, kRows = 8;  // per block

// Converts an image to floats of 0..1, one thread per pixel.
template <class T>
__global__ void place_kernel(DeviceView<const T> first, DeviceView<float> first_out) {
  const auto image = frame_of(first, blockIdx.z);
  const auto out = frame_of(first_out, blockIdx.z);
  const int x = int(blockIdx.y * kColumns + threadIdx.x);
  const int y = int(blockIdx.x * kRows + threadIdx.y);
  if (x < out.width && y < out.height) out(x, y) = unit_value(image(x, y));
}

// The same with doubling, one thread per pixel of the image; border pixels are repeated.
template <class T>
__global__ void place_doubled_kernel(DeviceView<const T> first, DeviceView<float> first_out) {
  const auto image = frame_of(first, blockIdx.z);
  const auto out = frame_of(first_out, blockIdx.z);
  const int x = int(blockIdx.y * kColumns + threadIdx.x);
  const int y = int(blockIdx.x * kRows + threadIdx.y);
  if (x >= image.width || y >= image.height) return;
  const int before = max(x - 1, 0), after = min(x + 1, image.width - 1);
  float left[3], right[3];  // of the rows above, at and below the pixel
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const T* row = image.row(min(max(y + k - 1, 0), image.height - 1));
    const float near = unit_value(row[x]);
    // At the border both pixels are the same; their interpolation might differ from it in the last
    // bit.
    left[k] = before == x ? near : between(near, unit_value(row[before]));
    right[k] = after == x ? near : between(near, unit_value(row[after]));
  }
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const float2 two = {between(left[1], left[2 * k]), between(right[1], right[2 * k])};
    *reinterpret_cast<float2*>(out.row(2 * y + k) + 2 * x) = two;
  }
}

__global__ void half_kernel(DeviceView<const float> first, DeviceView<float> first_out) {
  const auto from = frame_of(first, blockIdx.z);
  const auto to = frame_of(first_out, blockIdx.z);
  const int x = int(blockIdx.y * kColumns + threadIdx.x);
  const int y = int(blockIdx.x * kRows + threadIdx.y);
  if (x < to.width && y < to.height) to(x, y) = __ldg(&from(2 * x, 2 * y));
}

dim3 grid_of(int width, int height, int images) {
  return dim3(divide_up(height, kRows), divide_up(width, kColumns), images);
}

}  // namespace

template <class T>
void enqueue_place(cudaStream_t stream, DeviceView<const T> first, DeviceView<float> out,
                   int images, bool doubled) {
  const auto kernel = doubled ? place_doubled_kernel<T> : place_kernel<T>;  // of the image's size
  kernel<<<grid_of(first.width, first.height, images), dim3(kColumns, kRows), 0, stream>>>(first,
                                                                                           out);
  cuda_check_launch("SIFT: pixels");
}

void enqueue_half(cudaStream_t stream, const DeviceSpace& space, int octave) {
  const DeviceView<float> from = space.level(octave - 1, space.intervals, 0);
  const DeviceView<float> to = space.level(octave, 0, 0);
  half_kernel<<<grid_of(to.width, to.height, space.images), dim3(kColumns, kRows), 0, stream>>>(
      from, to);
  cuda_check_launch("SIFT: half size");
}

template void enqueue_place(cudaStream_t, DeviceView<const std::uint8_t>, DeviceView<float>, int,
                            bool);
template void enqueue_place(cudaStream_t, DeviceView<const std::uint16_t>, DeviceView<float>, int,
                            bool);
template void enqueue_place(cudaStream_t, DeviceView<const float>, DeviceView<float>, int, bool);
template void enqueue_place(cudaStream_t, DeviceView<const Rgb<std::uint8_t>>, DeviceView<float>,
                            int, bool);
template void enqueue_place(cudaStream_t, DeviceView<const Rgb<std::uint16_t>>, DeviceView<float>,
                            int, bool);
template void enqueue_place(cudaStream_t, DeviceView<const Rgb<float>>, DeviceView<float>, int,
                            bool);

}  // namespace cornea::sift
