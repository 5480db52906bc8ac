// SPDX-License-Identifier: Apache-2.0
// The measure at the further scales, only around the peaks of the first scale.
#include <algorithm>

#include "cornea/core/cuda.h"
#include "cornea/core/pixels.h"
#include "cornea/detect/foagdd/device_foagdd.h"
#include "cornea/detect/foagdd/foagdd_math.h"
#include "cornea/detect/foagdd/foagdd_patch.h"
#include "cornea/detect/foagdd/foagdd_plane.h"
#include "cornea/detect/peaks/drop_candidate.h"
#include "cornea/detect/peaks/strongest.h"

namespace cornea::foagdd {
namespace {

using namespace core;
using namespace peaks;

constexpr int kSide = kFoagddPatchSide;
constexpr int kMostAtOnce = 8;  // candidates per block
constexpr int kThreads = 256;
// Scales that a block processes together, so that more threads have work.
constexpr int kScalesAtOnce = 2;

// Floats per candidate for its surroundings. With a stride of 21 banks between candidates, and one
// row per thread, neighbouring threads of two candidates have no bank conflict.
CORNEA_HD constexpr int padded_area(int side) {
  const int area = side * side;
  return area + (21 - area % 32 + 32) % 32;
}

// Each thread computes a row of seven pixels, either the sums of P S (half = 0) or those of Q T
// (half = 1). All indices are constants, so that everything stays in registers.
using HalfSums = float[4][kSide];  // directions, pixels

template <int radius>
__device__ void sum_row(const FoagddDeviceBank& bank, const float4* weights, const float* source,
                        int stride, int half, HalfSums& sums) {
  constexpr int kWindow = kSide + 2 * radius;
  const float sign = half ? 1.0f : -1.0f;
  weights += half;
  float4 weight = *weights;
#pragma unroll 1
  for (int a = 0; a <= radius; ++a) {
    const float *above = source - a * stride - radius, *below = source + a * stride - radius;
    float window[kWindow];
#pragma unroll
    for (int i = 0; i < kWindow; ++i) window[i] = fmaf(sign, below[i], above[i]);
    const int width = bank.half_widths[a];
#pragma unroll
    for (int b = 0; b <= radius; ++b) {
      if (b > width) break;
      weights += 2;
      const float4 next = *weights;  // prefetched while this one is used
#pragma unroll
      for (int k = 0; k < kSide; ++k) {
        const float s = fmaf(-sign, window[radius + k + b], window[radius + k - b]);
        sums[0][k] = fmaf(weight.x, s, sums[0][k]);
        sums[1][k] = fmaf(weight.y, s, sums[1][k]);
        sums[2][k] = fmaf(weight.z, s, sums[2][k]);
        sums[3][k] = fmaf(weight.w, s, sums[3][k]);
      }
      weight = next;
    }
  }
}

// Warp collective: combines the two halves, which neighbouring lanes hold, to the derivatives.
// `row` is null for lanes without a row.
__device__ void store_row(const HalfSums& sums, int half, float (*row)[8][kSide]) {
#pragma unroll
  for (int k = 0; k < kSide; ++k) {
    float other[4];
#pragma unroll
    for (int d = 0; d < 4; ++d) other[d] = __shfl_xor_sync(~0u, sums[d][k], 1);
    if (!row) continue;
      // The lane with the P S sums stores the directions below pi / 2, the other lane the rest.
#pragma unroll
    for (int d = 1; d < 4; ++d) {
      if (half == 0) (*row)[d][k] = fabsf(sums[d][k] + other[d - 1]);
      if (half == 1) (*row)[8 - d][k] = fabsf(other[d] - sums[d - 1][k]);
    }
    (*row)[half * 4][k] = fabsf(half == 0 ? sums[0][k] : sums[3][k]);
  }
}

// The banks of the further scales.
struct FurtherBanks {
  int count = 0;
  FoagddDeviceBank bank[kFoagddMostScales - 1];
};

// The radii of the published banks have specialised code.
CORNEA_HD constexpr bool is_published(int directions, int radius) {
  return directions == 8 && (radius == 11 || radius == 14);
}

// Derivatives of the patches around the candidates, from their surroundings in shared memory. For
// eight directions and the radius of a published bank each warp computes two candidates at one
// scale; for any other bank the whole block computes all candidates.
constexpr int kWarpsPerScale = kMostAtOnce / 2;
static_assert(kThreads == kWarpsPerScale * kScalesAtOnce * 32);
static_assert(kThreads >= kScalesAtOnce * kMostAtOnce * kFoagddLanes<kFoagddMostDirections>);
template <int radius>
__device__ void published_patches(const FoagddDeviceBank& bank, const float4* weights,
                                  const float* surroundings, int side, int candidate_stride,
                                  int here, FoagddPatch<8>* patches) {
  const int lane = threadIdx.x % 32, pair = threadIdx.x / 32 % kWarpsPerScale;
  const int candidate = pair * 2 + lane / (kSide * 2);
  const int row = lane / 2 % kSide, half = lane % 2, middle = side / 2;
  const bool mine = lane < kSide * 4 && candidate < here;
  HalfSums sums = {};
  if (mine) {
    const float* source = surroundings + candidate * candidate_stride +
                          (middle + row - kFoagddDiscRadius) * side + middle - kFoagddDiscRadius;
    sum_row<radius>(bank, weights, source, side, half, sums);
  }
  store_row(sums, half, mine ? &patches[candidate][row] : nullptr);
}
template <int n>
__device__ void any_patches(const FoagddDeviceBank& bank, const float* surroundings, int side,
                            int candidate_stride, int here, FoagddPatch<n>* patches) {
  const int middle = side / 2;
  for (int i = threadIdx.x; i < here * kSide * kSide; i += kThreads) {
    const int c = i / (kSide * kSide), y = i / kSide % kSide, x = i % kSide;
    const float* source = surroundings + c * candidate_stride +
                          (middle + y - kFoagddDiscRadius) * side + middle + x - kFoagddDiscRadius;
    float d[n];
    foagdd_derivatives_at<n>(bank, source, side, d);
#pragma unroll
    for (int k = 0; k < n; ++k) patches[c][y][k][x] = d[k];
  }
}

// The layout of a block's shared memory, for a number of candidates at a time.
template <int n>
struct ConfirmMemory {
  int at_once, weight_count /* of a scale */, side;

  CORNEA_HD std::size_t tensors() const { return 0; }
  CORNEA_HD std::size_t weights() const {
    return tensors() + sizeof(FoagddPatchTensor<n>) * kScalesAtOnce * at_once;
  }
  CORNEA_HD std::size_t patches() const {
    return weights() + sizeof(float) * kScalesAtOnce * weight_count;
  }
  CORNEA_HD std::size_t surroundings() const {
    return patches() + sizeof(FoagddPatch<n>) * kScalesAtOnce * at_once;
  }
  CORNEA_HD std::size_t bytes() const {
    return surroundings() + sizeof(float) * padded_area(side) * at_once;
  }
};

// Warp collective: loads the square of the extended image from (left, top) on. Each lane loads its
// own columns, and several rows are in flight at once.
template <class T>
__device__ void load_surroundings(const DeviceView<const T>& image, int left, int top, int side,
                                  float* out) {
  const int lane = threadIdx.x % 32;
  for (int first_row = 0; first_row < side; first_row += 32) {
    const int my_row = foagdd_source(top + first_row + lane, image.height);
    const int rows = min(32, side - first_row);
    for (int i = lane; i < divide_up(side, 32) * 32; i += 32) {
      const int column = foagdd_source(left + i, image.width);
      const bool beside = i >= side || column < 0;
      const T* from = image.data + (beside ? 0 : column);
      float* to = out + first_row * side + i;
#pragma unroll 16
      for (int j = 0; j < rows; ++j) {
        const int row = __shfl_sync(~0u, my_row, j);
        const float v = beside || row < 0 ? 0.0f : gray_level(__ldg(from + row * image.stride));
        if (i < side) to[j * side] = v;
      }
    }
  }
}

// Each block takes a few candidates at a time: their surroundings are loaded into shared memory,
// derivatives are computed at two scales, each thread sums four entries of a tensor, and a few
// lanes factor each tensor.
template <int n, class T>
__global__ void __launch_bounds__(kThreads, 2)
    confirm_kernel(DeviceView<const T> first, DeviceCandidates candidates,
                   const __grid_constant__ FurtherBanks banks, ConfirmMemory<n> memory) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ int failed[kMostAtOnce];
  auto* tensors = reinterpret_cast<FoagddPatchTensor<n>*>(shared + memory.tensors());
  auto* weights = reinterpret_cast<float4*>(shared + memory.weights());
  auto* patches = reinterpret_cast<FoagddPatch<n>*>(shared + memory.patches());
  auto* surroundings = reinterpret_cast<float*>(shared + memory.surroundings());

  const int frame = blockIdx.y, at_once = memory.at_once;
  const std::uint32_t count = candidates.counts[frame];
  const auto image = frame_of(first, frame);
  const std::uint32_t* pixels = candidates.pixels + frame * candidates.capacity;
  const auto* strongest = static_cast<const OrderedBits<double>*>(candidates.strongest);
  const double best = candidates.relative ? from_ordered_bits(strongest[frame]) : 0;
  const double cutoff =
      peak_cutoff<double>(candidates.threshold, candidates.relative, candidates.unit, best);
  const int side = memory.side, margin = side / 2, candidate_stride = padded_area(side);
  const int weights_per_scale = memory.weight_count / 4;

  for (std::uint32_t base = blockIdx.x * at_once; base < count; base += gridDim.x * at_once) {
    const int here = min(std::uint32_t(at_once), count - base);
    if (threadIdx.x < kMostAtOnce) failed[threadIdx.x] = 0;
    for (int c = threadIdx.x / 32; c < here; c += kThreads / 32) {
      const std::uint32_t pixel = pixels[base + c];
      load_surroundings(image, int(pixel % candidates.width) - margin,
                        int(pixel / candidates.width) - margin, side,
                        surroundings + c * candidate_stride);
    }
    for (int first_scale = 0; first_scale < banks.count; first_scale += kScalesAtOnce) {
      const int scales = min(kScalesAtOnce, banks.count - first_scale);
      for (int k = 0; k < scales; ++k) {
        const FoagddDeviceBank& bank = banks.bank[first_scale + k];
        if (!is_published(n, bank.radius)) continue;
        for (int i = threadIdx.x; i < bank.weight_count / 4; i += kThreads) {
          weights[k * weights_per_scale + i] = reinterpret_cast<const float4*>(bank.weights)[i];
        }
      }
      __syncthreads();
      for (int k = 0; k < scales; ++k) {
        const FoagddDeviceBank& bank = banks.bank[first_scale + k];
        FoagddPatch<n>* out = patches + k * at_once;
        if (!is_published(n, bank.radius)) {
          any_patches<n>(bank, surroundings, side, candidate_stride, here, out);
        } else if (int(threadIdx.x) / 32 / kWarpsPerScale == k) {
          auto* published = reinterpret_cast<FoagddPatch<8>*>(out);
          const float4* mine = weights + k * weights_per_scale;
          if (bank.radius == 11) {
            published_patches<11>(bank, mine, surroundings, side, candidate_stride, here,
                                  published);
          } else {
            published_patches<14>(bank, mine, surroundings, side, candidate_stride, here,
                                  published);
          }
        }
      }
      __syncthreads();
      for (int i = threadIdx.x; i < scales * at_once * kFoagddSquares<n>; i += kThreads) {
        const int which = i / kFoagddSquares<n>;
        if (which % at_once >= here) continue;
        foagdd_sum_square<n>(patches[which], i % kFoagddSquares<n>, tensors[which]);
      }
      __syncthreads();
      const int which = threadIdx.x / kFoagddLanes<n>;
      const bool mine = which < scales * at_once && which % at_once < here;
      const double measure = foagdd_measure_by_lanes<n>(tensors[mine ? which : 0]);
      if (mine && !(measure > cutoff)) failed[which % at_once] = 1;
      __syncthreads();
    }
    if (threadIdx.x < here && failed[threadIdx.x]) {
      drop_candidate(candidates, frame, pixels[base + threadIdx.x]);
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void DeviceFoagdd::enqueue_confirm_pixels(DeviceView<const T> first,
                                          const DeviceCandidates& candidates) {
  FurtherBanks banks;
  int largest_radius = 0, weight_count = 0;
  for (std::size_t scale = 1; scale < banks_.size(); ++scale) {
    const FoagddDeviceBank& bank = banks.bank[banks.count++] = device_bank(scale);
    largest_radius = std::max(largest_radius, bank.radius);
    if (is_published(banks_[0].directions, bank.radius)) {
      weight_count = std::max(weight_count, bank.weight_count + 8);  // room for the prefetch
    }
  }
  with_directions(banks_[0].directions, [&](auto n) {
    // Two blocks should fit on a multiprocessor of devices with much shared memory.
    const std::size_t room = std::min<std::size_t>(most_shared_bytes_ - 1024, 112 << 10);
    ConfirmMemory<n()> memory{kMostAtOnce, weight_count,
                              2 * (largest_radius + kFoagddDiscRadius) + 1};
    while (memory.at_once > 1 && memory.bytes() > room) --memory.at_once;
    const auto kernel = confirm_kernel<n(), T>;
    const auto bytes = static_cast<int>(memory.bytes());
    // The attribute belongs to the kernel and is shared by all users, so that it is set to the
    // maximum.
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    std::max(bytes, static_cast<int>(room))),
               "FOAGDD: shared memory");
    const dim3 grid(multiprocessors_ * 2, candidates.frames);
    kernel<<<grid, kThreads, bytes, cuda_stream(context_)>>>(first, candidates, banks, memory);
  });
  cuda_check_launch("FOAGDD further scales");
}

void DeviceFoagdd::enqueue_confirm(AnyView first, const DeviceCandidates& candidates) {
  const DeviceGuard device(context_);
  visit_gray_on_device(first, [&](auto images) { enqueue_confirm_pixels(images, candidates); });
}

}  // namespace cornea::foagdd
