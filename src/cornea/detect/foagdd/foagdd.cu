// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cornea/core/cuda.h"
#include "cornea/core/pixels.h"
#include "cornea/detect/foagdd/device_foagdd.h"
#include "cornea/detect/foagdd/foagdd_math.h"
#include "cornea/detect/foagdd/foagdd_patch.h"
#include "cornea/detect/foagdd/foagdd_plane.h"
#include "cornea/detect/peaks/strongest.h"

namespace cornea::foagdd {
namespace {

using namespace core;
using namespace peaks;
using namespace detect;

// The published filter bank of the first scale, whose nonzero weights are known at compile time.
constexpr int kRadius = 8, kDirections = 8;
constexpr int kWeightCount = 64;
CORNEA_HD constexpr int half_width(int a) {
  constexpr int kHalfWidths[kRadius + 1] = {8, 8, 8, 7, 7, 6, 5, 4, 2};
  return kHalfWidths[a];
}
// Bit d is set if weight d of this row and column is not zero.
CORNEA_HD constexpr unsigned weights_that_count(int at) {
  constexpr unsigned char kMasks[kWeightCount] = {
      0x00, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0x30, 0x10,  //
      0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x37, 0x13,  //
      0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x37, 0x13,  //
      0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x37,        //
      0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x36,        //
      0x0f, 0xff, 0xff, 0xff, 0xff, 0x5a, 0x36,              //
      0x0f, 0xff, 0xfe, 0xfe, 0xfe, 0x6c,                    //
      0x0c, 0xec, 0xec, 0xec, 0x6c,                          //
      0x08, 0xc8, 0xc8,
  };
  return kMasks[at];
}
struct PublishedWeights {
  float weight[kWeightCount][kDirections];
};

bool is_published_shape(const FoagddBank& bank) {
  if (bank.directions != kDirections || bank.radius != kRadius) return false;
  for (int a = 0; a <= kRadius; ++a) {
    if (bank.half_widths[a] != half_width(a)) return false;
  }
  for (int i = 0; i < kWeightCount * kDirections; ++i) {
    const bool counts = weights_that_count(i / kDirections) >> i % kDirections & 1;
    if (bank.weights[i] != 0 && !counts) return false;
  }
  return true;
}

constexpr int kAtOnce = 4;  // neighbouring pixels per thread

// The part of the image that a block needs.
template <int width, int height>
using SourceTile = float[height + 2 * kRadius][width + 2 * kRadius];

// The sums of P S and Q T (foagdd_bank.h) of a few neighbouring pixels.
struct PixelSums {
  float p[kDirections / 2][kAtOnce] = {}, q[kDirections / 2][kAtOnce] = {};
};

// Adds the rows at distance a above and below, and recursively those farther away. `first_weight`
// is the index of the first weight of this row. All indices are constants, so that everything stays
// in registers.
template <int a, int first_weight, class Tile>
__device__ void add_rows(const Tile& source, int row, int column, const PublishedWeights& weights,
                         PixelSums& sums) {
  constexpr int kWindow = kAtOnce + 2 * kRadius, kWidth = half_width(a);
  float odd[kWindow], even[kWindow];
#pragma unroll
  for (int i = 0; i < kWindow; i += 4) {
    const float4 u = *reinterpret_cast<const float4*>(&source[row + kRadius - a][column + i]);
    const float4 v = *reinterpret_cast<const float4*>(&source[row + kRadius + a][column + i]);
    odd[i] = u.x - v.x, odd[i + 1] = u.y - v.y, odd[i + 2] = u.z - v.z, odd[i + 3] = u.w - v.w;
    even[i] = u.x + v.x, even[i + 1] = u.y + v.y, even[i + 2] = u.z + v.z, even[i + 3] = u.w + v.w;
  }
#pragma unroll
  for (int b = 0; b <= kWidth; ++b) {
    const unsigned counts = weights_that_count(first_weight + b);
    const float* weight = weights.weight[first_weight + b];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int centre = kRadius + k;
      const float s = odd[centre - b] + odd[centre + b];
      const float t = even[centre - b] - even[centre + b];
#pragma unroll
      for (int d = 0; d < kDirections / 2; ++d) {
        const int e = d + kDirections / 2;
        if (counts >> d & 1) sums.p[d][k] = fmaf(weight[d], s, sums.p[d][k]);
        if (counts >> e & 1) sums.q[d][k] = fmaf(weight[e], t, sums.q[d][k]);
      }
    }
  }
  if constexpr (a < kRadius) {
    add_rows<a + 1, first_weight + kWidth + 1>(source, row, column, weights, sums);
  }
}

// Each thread computes four pixels: the differences of a pair of rows are computed once for all of
// them. Weights are kernel parameters, so that they are constant operands of the products. Large
// tiles load less; small tiles spread a small image over all multiprocessors.
template <int tile_width, int tile_height, class T>
__global__ void __launch_bounds__(tile_width / kAtOnce * 8, 768 / (tile_width / kAtOnce * 8))
    published_derivative_kernel(DeviceView<const T> first, int first_frame,
                                const __grid_constant__ PublishedWeights weights, FoagddPlane plane,
                                float* derivatives) {
  constexpr int kColumns = tile_width + 2 * kRadius, kRows = tile_height + 2 * kRadius;
  constexpr int kThreads = tile_width / kAtOnce, kThreadRows = 8;
  __shared__ __align__(16) SourceTile<tile_width, tile_height> source;
  const auto image = frame_of(first, first_frame + blockIdx.z);
  derivatives += blockIdx.z * plane.frame_size();
  const int left = int(blockIdx.y) * tile_width + plane.left();
  const int top = int(blockIdx.x) * tile_height + plane.top();
  const int x0 = left - kRadius, y0 = top - kRadius;
  const bool inside =
      x0 >= 0 && y0 >= 0 && x0 + kColumns <= image.width && y0 + kRows <= image.height;
  for (int j = threadIdx.y; j < kRows; j += kThreadRows) {
    for (int i = threadIdx.x; i < kColumns; i += kThreads) {
      source[j][i] = inside ? gray_level(__ldg(image.row(y0 + j) + x0 + i))
                            : extended_pixel(image, x0 + i, y0 + j);
    }
  }
  __syncthreads();

  const int column = threadIdx.x * kAtOnce;
#pragma unroll 1
  for (int row = threadIdx.y; row < tile_height; row += kThreadRows) {
    PixelSums sums;
    add_rows<0, 0>(source, row, column, weights, sums);
    const auto& p = sums.p;
    const auto& q = sums.q;
    const int x = left + column, y = top + row;
    if (x >= plane.right() || y >= plane.bottom()) break;
    float* out = derivatives + plane.at(x, y);
    auto store = [&](int direction, auto&& value) {
      *reinterpret_cast<float4*>(out + direction * plane.stride()) = {
          fabsf(value(0)), fabsf(value(1)), fabsf(value(2)), fabsf(value(3))};
    };
    store(0, [&](int k) { return p[0][k]; });
#pragma unroll
    for (int d = 1; d < kDirections / 2; ++d) {
      store(d, [&](int k) { return p[d][k] + q[d - 1][k]; });
      store(kDirections - d, [&](int k) { return p[d][k] - q[d - 1][k]; });
    }
    store(kDirections / 2, [&](int k) { return q[kDirections / 2 - 1][k]; });
  }
}

constexpr dim3 kAnyBlock(32, 8);

// Any filter bank: one thread per pixel, from a tile of the image in shared memory.
template <int n, class T>
__global__ void derivative_kernel(DeviceView<const T> first, int first_frame, FoagddDeviceBank bank,
                                  FoagddPlane plane, float* derivatives) {
  extern __shared__ float tile[];
  const auto image = frame_of(first, first_frame + blockIdx.z);
  derivatives += blockIdx.z * plane.frame_size();
  const int r = bank.radius, stride = kAnyBlock.x + 2 * r;
  const int left = int(blockIdx.y * kAnyBlock.x) + plane.left();
  const int top = int(blockIdx.x * kAnyBlock.y) + plane.top();
  for (int j = threadIdx.y; j < int(kAnyBlock.y) + 2 * r; j += kAnyBlock.y) {
    for (int i = threadIdx.x; i < stride; i += kAnyBlock.x) {
      tile[j * stride + i] = extended_pixel(image, left - r + i, top - r + j);
    }
  }
  __syncthreads();
  const int x = left + threadIdx.x, y = top + threadIdx.y;
  if (x >= plane.right() || y >= plane.bottom()) return;
  float d[n];
  foagdd_derivatives_at<n>(bank, tile + (threadIdx.y + r) * stride + threadIdx.x + r, stride, d);
  float* out = derivatives + plane.at(x, y);
#pragma unroll
  for (int i = 0; i < n; ++i) out[i * plane.stride()] = d[i];
}

constexpr int kExactThreads = 128;

// The location of a pixel in a frame's map.
struct MapPixel {
  int x, y, frame;
  __device__ MapPixel(std::size_t pixel, const FoagddPlane& plane)
      : x(int(pixel % plane.width)),
        y(int(pixel / plane.width % plane.height)),
        frame(int(pixel / plane.width / plane.height)) {}
  __device__ const float* derivatives(const float* first, const FoagddPlane& plane) const {
    return first + frame * plane.frame_size() + plane.at(x, y);
  }
};

// The exact measure of all pixels, one thread per pixel.
template <int n>
__global__ void __launch_bounds__(kExactThreads)
    exact_kernel(const float* derivatives, FoagddPlane plane, int first_frame, int frames,
                 Region region, DeviceView<double> first_map, OrderedBits<double>* strongest) {
  const std::size_t count = std::size_t(plane.width) * plane.height * frames;
  for (std::size_t i = blockIdx.x * std::size_t(kExactThreads) + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * kExactThreads) {
    const MapPixel pixel(i, plane);
    double tensor[foagdd_tensor_size(n)];
    foagdd_tensor<n>(FoagddLoad{pixel.derivatives(derivatives, plane), plane}, tensor);
    const double measure = foagdd_measure<n>(tensor);
    const int of_map = first_frame + pixel.frame;
    *foagdd_map_at(first_map, of_map, pixel.x, pixel.y) = measure;
    if (strongest && pixel.x >= region.left && pixel.x < region.right && pixel.y >= region.top &&
        pixel.y < region.bottom) {
      // A plain load first: few values exceed the maximum found so far, so most threads skip the
      // atomic.
      const OrderedBits<double> bits = ordered_bits(measure);
      if (bits > __ldcg(strongest + of_map)) raise_to(strongest + of_map, bits);
    }
  }
}

// The exact measure of the pixels of a short list.
constexpr int kListed = 12;  // pixels per block
__global__ void __launch_bounds__(kExactThreads, 6)
    listed_kernel(const float* derivatives, FoagddPlane plane, FoagddList pixels, int first_frame,
                  DeviceView<double> first_map) {
  constexpr int n = kDirections, kSide = kFoagddPatchSide, kArea = kSide * n * kSide;
  __shared__ FoagddPatch<n> patches[kListed];
  __shared__ FoagddPatchTensor<n> tensors[kListed];
  const std::uint32_t count = *pixels.count;
  const int lane = threadIdx.x % 32;
  for (std::uint32_t base = blockIdx.x * kListed; base < count; base += gridDim.x * kListed) {
    const int here = min(std::uint32_t(kListed), count - base);
    // Lanes beyond the end repeat the last pixel, so that no load is conditional.
    const std::uint32_t item = pixels.items[base + min(lane, here - 1)];
#pragma unroll 1
    for (int which = threadIdx.x / 32; which < kListed; which += kExactThreads / 32) {
      const MapPixel pixel(__shfl_sync(~0u, item, which), plane);
      const float* from =
          pixel.derivatives(derivatives, plane) - kFoagddDiscRadius * (plane.row_stride() + 1);
      float* to = &patches[which][0][0][0];
#pragma unroll
      for (int i = lane; i < kArea; i += 32) {
        const int y = i / (n * kSide), d = i / kSide % n, x = i % kSide;
        to[i] = __ldg(from + (y * plane.row_stride() + d * plane.stride() + x));
      }
    }
    __syncthreads();
    const int which = threadIdx.x / kFoagddSquares<n>;
    if (which < here) {
      foagdd_sum_square<n>(patches[which], threadIdx.x % kFoagddSquares<n>, tensors[which]);
    }
    __syncthreads();
    const int factored = threadIdx.x / kFoagddLanes<n>;
    const double measure = foagdd_measure_by_lanes<n>(tensors[min(factored, here - 1)]);
    if (factored < here && threadIdx.x % kFoagddLanes<n> == 0) {
      const MapPixel pixel(pixels.items[base + factored], plane);
      *foagdd_map_at(first_map, first_frame + pixel.frame, pixel.x, pixel.y) = measure;
    }
    __syncthreads();
  }
}
static_assert(kListed * kFoagddSquares<kDirections> <= kExactThreads);
static_assert(kListed * kFoagddLanes<kDirections> <= kExactThreads);

// As many frames are processed together as keep the derivatives below this size, at least one.
constexpr std::size_t kDerivativeBytes = std::size_t{512} << 20;

}  // namespace

DeviceFoagdd::DeviceFoagdd(const Context& context, const std::vector<FoagddBank>& banks)
    : context_(context), banks_(banks) {
  const DeviceGuard device(context_);
  std::vector<float> all;
  for (const FoagddBank& bank : banks) {
    bank_offsets_.push_back(all.size());
    all.insert(all.end(), bank.weights.begin(), bank.weights.end());
    all.resize(divide_up<std::size_t>(all.size(), 4) *
               4);  // padded, so that the next one begins at a multiple of 16 bytes
  }
  auto* weights = weights_.reserve<float>(context_, all.size());
  cuda_check(cudaMemcpyAsync(weights, all.data(), all.size() * sizeof(float),
                             cudaMemcpyHostToDevice, cuda_stream(context_)),
             "uploading FOAGDD's filters");
  context_.synchronize();
  open_counts_.reserve<std::uint32_t>(context_, 2);
  cuda_check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount,
                                    context_.cuda_index()),
             "asking for the number of multiprocessors");
  cuda_check(cudaDeviceGetAttribute(&most_shared_bytes_, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                    context_.cuda_index()),
             "asking for the size of shared memory");
}

FoagddDeviceBank DeviceFoagdd::device_bank(std::size_t scale) const {
  FoagddDeviceBank bank;
  bank.radius = banks_[scale].radius;
  bank.weights = weights_.data<float>() + bank_offsets_[scale];
  bank.weight_count = static_cast<int>(divide_up<std::size_t>(banks_[scale].weights.size(), 4) * 4);
  std::copy(banks_[scale].half_widths.begin(), banks_[scale].half_widths.end(), bank.half_widths);
  return bank;
}

void DeviceFoagdd::prepare(int width, int height, int frames, bool screens) {
  plane_ = {width, height, banks_[0].directions};
  const std::size_t floats = plane_.frame_size();
  frames_at_once_ = static_cast<int>(std::clamp<std::size_t>(
      kDerivativeBytes / (floats * sizeof(float)), 1, static_cast<std::size_t>(frames)));
  derivatives_.reserve<float>(context_, floats * frames_at_once_);
  if (!screens) return;
  const std::size_t pixels = std::size_t(width) * height * frames_at_once_;
  bounds_.reserve<PixelBounds>(context_, pixels);
  open_cells_.reserve<std::uint32_t>(
      context_, std::size_t(plane_.cells_across()) * plane_.cells_down() * frames_at_once_);
  open_pixels_.reserve<std::uint32_t>(context_, pixels);
}

template <class T>
void DeviceFoagdd::enqueue_derivatives(DeviceView<const T> first, int frame, int frames) {
  const cudaStream_t stream = cuda_stream(context_);
  const FoagddBank& bank = banks_[0];
  float* derivatives = derivatives_.data<float>();
  const int columns = plane_.right() - plane_.left(), rows = plane_.bottom() - plane_.top();
  if (is_published_shape(bank)) {
    PublishedWeights weights;
    std::copy(bank.weights.begin(), bank.weights.end(), &weights.weight[0][0]);
    // Rows of tiles are mapped to the grid's x dimension, the only one that may be large.
    auto launch = [&](auto kernel, int width, int height) {
      const dim3 grid(divide_up(rows, height), divide_up(columns, width), frames);
      kernel<<<grid, dim3(width / kAtOnce, 8), 0, stream>>>(first, frame, weights, plane_,
                                                            derivatives);
    };
    const int large_tiles = divide_up(rows, 16) * divide_up(columns, 128) * frames;
    if (large_tiles >= 4 * multiprocessors_) {
      launch(published_derivative_kernel<128, 16, T>, 128, 16);
    } else {
      launch(published_derivative_kernel<64, 8, T>, 64, 8);
    }
  } else {
    const dim3 grid(divide_up(rows, int(kAnyBlock.y)), divide_up(columns, int(kAnyBlock.x)),
                    frames);
    const std::size_t bytes =
        (kAnyBlock.x + 2 * bank.radius) * (kAnyBlock.y + 2 * bank.radius) * sizeof(float);
    with_directions(bank.directions, [&](auto n) {
      derivative_kernel<n(), T>
          <<<grid, kAnyBlock, bytes, stream>>>(first, frame, device_bank(0), plane_, derivatives);
    });
  }
  cuda_check_launch("FOAGDD derivatives");
}

void DeviceFoagdd::enqueue_response(const ResponseCall& call, const FoagddScreen* screen,
                                    Region region) {
  const DeviceGuard device(context_);
  const int n = banks_[0].directions;
  const DeviceView<double> first_map = call.first_map.device<double>();
  auto* strongest = static_cast<std::uint64_t*>(call.strongest);
  for (int frame = 0; frame < call.frames; frame += frames_at_once_) {
    const int count = std::min(frames_at_once_, call.frames - frame);
    visit_gray_on_device(call.first,
                         [&](auto images) { enqueue_derivatives(images, frame, count); });
    call.clock->mark("derivatives");
    if (screen) {
      const FoagddList open = enqueue_screen(*screen, frame, count, first_map);
      listed_kernel<<<multiprocessors_ * 8, kExactThreads, 0, cuda_stream(context_)>>>(
          derivatives_.data<float>(), plane_, open, frame, first_map);
      cuda_check_launch("FOAGDD exact measures of a list");
      call.clock->mark("first measure");
      call.device_peaks->enqueue_mark_listed<double>(first_map, frame, open.items, open.count);
      call.clock->mark("suppression");
    } else {
      with_directions(n, [&](auto directions) {
        exact_kernel<directions()>
            <<<multiprocessors_ * 16, kExactThreads, 0, cuda_stream(context_)>>>(
                derivatives_.data<float>(), plane_, frame, count, region, first_map, strongest);
      });
    }
    cuda_check_launch("FOAGDD exact measures");
    call.clock->mark("first measure");
  }
}

}  // namespace cornea::foagdd
