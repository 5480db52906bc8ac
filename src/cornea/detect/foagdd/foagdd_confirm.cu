// The measure at the further scales, around the peaks of the first one only.
#include <algorithm>

#include "cornea/core/cuda.h"
#include "cornea/core/pixels.h"
#include "cornea/detect/foagdd/device_foagdd.h"
#include "cornea/detect/foagdd/foagdd_device.h"
#include "cornea/detect/foagdd/foagdd_math.h"
#include "cornea/detect/peaks/peak_test.h"
#include "cornea/detect/peaks/strongest.h"

namespace cornea {
namespace {

constexpr int kSide = 2 * kFoagddDiscRadius + 1;
constexpr int kMostAtOnce = 8;  // candidates of a block
constexpr int kThreads = 128;

// Floats that a candidate's surroundings take: with a step of 21 banks from one candidate to the
// next, a row a thread, neighbouring threads of two candidates do not meet in a bank.
CORNEA_HD constexpr int padded_area(int side) {
  const int area = side * side;
  return area + (21 - area % 32 + 32) % 32;
}

// The 7 x 7 derivatives around a candidate, row by row, in each row direction by direction.
template <int n>
using Patch = float[kSide][n][kSide];

// A thread makes a row of seven pixels, the sums that are odd or those that are even from row to
// row: all indices are constants, so that everything stays in registers. `half` is 0 for the sums
// of P S and 1 for those of Q T.
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
      const float4 next = *weights;  // on its way while this one is used
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

// The two halves together make the derivatives: a lane has one, the lane beside it the other. All
// lanes of a warp call it; null where there is no row.
__device__ void store_row(const HalfSums& sums, int half, float (*row)[8][kSide]) {
#pragma unroll
  for (int k = 0; k < kSide; ++k) {
    float other[4];
#pragma unroll
    for (int d = 0; d < 4; ++d) other[d] = __shfl_xor_sync(~0u, sums[d][k], 1);
    if (!row) continue;
      // The lane of the odd sums stores the directions below pi / 2, the other one the rest.
#pragma unroll
    for (int d = 1; d < 4; ++d) {
      if (half == 0) (*row)[d][k] = fabsf(sums[d][k] + other[d - 1]);
      if (half == 1) (*row)[8 - d][k] = fabsf(other[d] - sums[d - 1][k]);
    }
    (*row)[half * 4][k] = fabsf(half == 0 ? sums[0][k] : sums[3][k]);
  }
}

// One entry of a candidate's tensor, in the order of foagdd_tensor.
template <int n>
__device__ double tensor_entry(const Patch<n>& patch, int i, int j) {
  constexpr int kMiddle = kFoagddDiscRadius;
  double sum = 0;
#pragma unroll
  for (int dx = -kFoagddDiscRadius; dx <= kFoagddDiscRadius; ++dx) {
    double column = 0;
#pragma unroll
    for (int row = 0; row <= 2 * foagdd_disc_half_height(dx); ++row) {
      const int y = kMiddle + foagdd_disc_step(row), x = kMiddle + dx;
      column = fma(double(patch[y][i][x]), double(patch[y][j][x]), column);
    }
    sum += column;
  }
  return sum;
}

// The row and column of an entry.
__device__ int2 tensor_place(int entry) {
  int i = 0;
  while (foagdd_tensor_index(i + 1, 0) <= entry) ++i;
  return {i, entry - foagdd_tensor_index(i, 0)};
}

// The banks of the further scales.
struct FurtherBanks {
  int count = 0;
  FoagddDeviceBank bank[kFoagddMostScales - 1];
};

// The radii of the published banks have their own code.
CORNEA_HD constexpr bool is_published(int directions, int radius) {
  return directions == 8 && (radius == 11 || radius == 14);
}

// Derivatives of the patches around the candidates, from their surroundings in shared memory: for
// eight directions and the radius of a published bank, or for any.
constexpr int kThreadsPerCandidate = kSide * 2;  // rows, halves
template <int radius>
__device__ void published_patches(const FoagddDeviceBank& bank, const float4* weights,
                                  const float* surroundings, int side, int candidate_stride,
                                  int here, Patch<8>* patches) {
  const int candidate = threadIdx.x / kThreadsPerCandidate;
  const int part = threadIdx.x % kThreadsPerCandidate;
  const int row = part / 2, half = part % 2, middle = side / 2;
  HalfSums sums = {};
  if (candidate < here) {
    const float* source = surroundings + candidate * candidate_stride +
                          (middle + row - kFoagddDiscRadius) * side + middle - kFoagddDiscRadius;
    sum_row<radius>(bank, weights, source, side, half, sums);
  }
  store_row(sums, half, candidate < here ? &patches[candidate][row] : nullptr);
}
template <int n>
__device__ void any_patches(const FoagddDeviceBank& bank, const float* surroundings, int side,
                            int candidate_stride, int here, Patch<n>* patches) {
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

// Scales whose tensors are summed and factored together, so that more threads have work.
constexpr int kScalesAtOnce = 2;

// What a block keeps in shared memory, for a number of candidates at once.
template <int n>
struct ConfirmMemory {
  static constexpr int kEntries = foagdd_tensor_size(n);
  int at_once, weight_count, side;

  CORNEA_HD std::size_t tensors() const { return 0; }
  CORNEA_HD std::size_t weights() const {
    return tensors() + sizeof(double) * kScalesAtOnce * at_once * kEntries;
  }
  CORNEA_HD std::size_t patches() const { return weights() + sizeof(float) * weight_count; }
  CORNEA_HD std::size_t surroundings() const {
    return patches() + sizeof(Patch<n>) * kScalesAtOnce * at_once;
  }
  CORNEA_HD std::size_t bytes() const {
    return surroundings() + sizeof(float) * padded_area(side) * at_once;
  }
};

// A block takes a few candidates at a time: their surroundings go to shared memory, derivatives are
// made from them at two scales, a thread sums an entry of a tensor, and a thread factors a tensor.
template <int n, class T>
__global__ void __launch_bounds__(kThreads)
    confirm_kernel(DeviceView<const T> first, DeviceCandidates candidates,
                   const __grid_constant__ FurtherBanks banks, ConfirmMemory<n> memory) {
  constexpr int kEntries = foagdd_tensor_size(n);
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ int failed[kMostAtOnce];
  auto* tensors = reinterpret_cast<double*>(shared + memory.tensors());
  auto* weights = reinterpret_cast<float4*>(shared + memory.weights());
  auto* patches = reinterpret_cast<Patch<n>*>(shared + memory.patches());
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

  for (std::uint32_t base = blockIdx.x * at_once; base < count; base += gridDim.x * at_once) {
    const int here = min(std::uint32_t(at_once), count - base);
    if (threadIdx.x < kMostAtOnce) failed[threadIdx.x] = 0;
    // A warp a candidate, several rows on their way at once.
    for (int c = threadIdx.x / 32; c < here; c += kThreads / 32) {
      const std::uint32_t pixel = pixels[base + c];
      const int left = int(pixel % candidates.width) - margin;
      const int top = int(pixel / candidates.width) - margin;
      const bool inside =
          left >= 0 && top >= 0 && left + side <= image.width && top + side <= image.height;
      // A lane takes two columns.
      for (int i = threadIdx.x % 32; i < side; i += 64) {
        float* to = surroundings + c * candidate_stride + i;
        const bool second = i + 32 < side;
        if (inside) {
          const T* from = image.row(top) + left + i;
#pragma unroll 8
          for (int j = 0; j < side; ++j) {
            const float a = gray_level(__ldg(from + j * image.stride));
            const float b = second ? gray_level(__ldg(from + j * image.stride + 32)) : 0.0f;
            to[j * side] = a;
            if (second) to[j * side + 32] = b;
          }
        } else {
          for (int j = 0; j < side; ++j) {
            to[j * side] = extended_pixel(image, left + i, top + j);
            if (second) to[j * side + 32] = extended_pixel(image, left + i + 32, top + j);
          }
        }
      }
    }
    for (int first_scale = 0; first_scale < banks.count; first_scale += kScalesAtOnce) {
      const int scales = min(kScalesAtOnce, banks.count - first_scale);
      for (int k = 0; k < scales; ++k) {
        const FoagddDeviceBank& bank = banks.bank[first_scale + k];
        Patch<n>* out = patches + k * at_once;
        if (is_published(n, bank.radius)) {
          for (int i = threadIdx.x; i < bank.weight_count / 4; i += kThreads) {
            weights[i] = reinterpret_cast<const float4*>(bank.weights)[i];
          }
        }
        __syncthreads();
        if (n == 8 && bank.radius == 11) {
          published_patches<11>(bank, weights, surroundings, side, candidate_stride, here,
                                reinterpret_cast<Patch<8>*>(out));
        } else if (n == 8 && bank.radius == 14) {
          published_patches<14>(bank, weights, surroundings, side, candidate_stride, here,
                                reinterpret_cast<Patch<8>*>(out));
        } else {
          any_patches<n>(bank, surroundings, side, candidate_stride, here, out);
        }
        __syncthreads();
      }
      for (int i = threadIdx.x; i < scales * at_once * kEntries; i += kThreads) {
        const int which = i / kEntries;
        if (which % at_once >= here) continue;
        const int2 place = tensor_place(i % kEntries);
        tensors[i] = tensor_entry<n>(patches[which], place.x, place.y);
      }
      __syncthreads();
      if (threadIdx.x < scales * at_once && threadIdx.x % at_once < here) {
        double tensor[kEntries];
#pragma unroll
        for (int i = 0; i < kEntries; ++i) tensor[i] = tensors[threadIdx.x * kEntries + i];
        if (!(foagdd_measure<n>(tensor) > cutoff)) atomicOr(&failed[threadIdx.x % at_once], 1);
      }
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
      weight_count = std::max(weight_count, bank.weight_count + 8);  // one is read ahead
    }
  }
  with_directions(banks_[0].directions, [&](auto n) {
    // Three blocks should find room on a multiprocessor of the cards that have much of it.
    const std::size_t room = std::min<std::size_t>(most_shared_bytes_ - 1024, 74 << 10);
    ConfirmMemory<n()> memory{kMostAtOnce, weight_count,
                              2 * (largest_radius + kFoagddDiscRadius) + 1};
    while (memory.at_once > 1 && memory.bytes() > room) --memory.at_once;
    const auto kernel = confirm_kernel<n(), T>;
    const auto bytes = static_cast<int>(memory.bytes());
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
               "FOAGDD: shared memory");
    const dim3 grid(multiprocessors_ * 3, candidates.frames);
    kernel<<<grid, kThreads, bytes, cuda_stream(context_)>>>(first, candidates, banks, memory);
  });
  cuda_check_launch("FOAGDD further scales");
}

void DeviceFoagdd::enqueue_confirm(AnyView first, const DeviceCandidates& candidates) {
  const DeviceGuard device(context_);
  if (first.pixel() == Pixel::u8) {
    enqueue_confirm_pixels(first.device<std::uint8_t>(), candidates);
  } else if (first.pixel() == Pixel::u16) {
    enqueue_confirm_pixels(first.device<std::uint16_t>(), candidates);
  } else {
    enqueue_confirm_pixels(first.device<float>(), candidates);
  }
}

}  // namespace cornea
