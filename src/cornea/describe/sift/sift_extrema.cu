// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "cornea/core/compaction.h"
#include "cornea/describe/sift/device_sift.h"

namespace cornea::sift {
namespace {

using namespace core;

// Each warp processes a strip of columns, row by row: one lane per pixel, of which the outer two
// only provide values to their neighbours.
constexpr int kInner = kWarp - 2;
constexpr int kLongStrip = 16, kShortStrip = 4;  // rows; short strips for small octaves
constexpr int kStripWarps = 4;                   // warps per block

// The maximum and the minimum of a pixel and its left and right neighbours.
struct Triple {
  float most, least;
};

template <int intervals, int strip_rows>
__global__ void __launch_bounds__(kStripWarps* kWarp)
    extrema_kernel(const __grid_constant__ DeviceSpace space, int octave, float least_height,
                   ExtremumList list) {
  constexpr int kLevels = intervals + 3, kDogs = intervals + 2;
  const DeviceOctave& o = space.octaves[octave];
  const int image = blockIdx.z, lane = threadIdx.x % kWarp;
  const int left = kSiftBorder + int(blockIdx.y) * kInner;  // column of lane 1
  const int top = kSiftBorder + int(blockIdx.x * kStripWarps + threadIdx.x / kWarp) * strip_rows;
  const int bottom = min(top + strip_rows, o.height - kSiftBorder);
  if (top >= bottom) return;
  const int x = left - 1 + lane;
  const bool inner = lane > 0 && lane <= kInner && x < o.width - kSiftBorder;
  const std::size_t level_floats = o.image_floats() * space.images;
  const float* at = o.levels + image * o.image_floats() + std::ptrdiff_t(top - 1) * o.stride +
                    min(x, o.width - 1);

  Triple before[kDogs], here[kDogs];
  float centre[kDogs], beside_most[kDogs], beside_least[kDogs];
  float next[kLevels];
#pragma unroll
  for (int l = 0; l < kLevels; ++l) next[l] = __ldg(at + l * level_floats);
  const int rows = bottom - top + 2;
  for (int row = 0; row < rows; ++row) {
    float level[kLevels];
#pragma unroll
    for (int l = 0; l < kLevels; ++l) level[l] = next[l];
    if (row + 1 < rows) {
      at += o.stride;
#pragma unroll
      for (int l = 0; l < kLevels; ++l) next[l] = __ldg(at + l * level_floats);
    }
    Triple now[kDogs];
    float value[kDogs], most[kDogs], least[kDogs];
#pragma unroll
    for (int l = 0; l < kDogs; ++l) {
      value[l] = level[l + 1] - level[l];
      const float a = __shfl_up_sync(~0u, value[l], 1), b = __shfl_down_sync(~0u, value[l], 1);
      most[l] = fmaxf(a, b);
      least[l] = fminf(a, b);
      now[l] = {fmaxf(most[l], value[l]), fminf(least[l], value[l])};
    }
    if (row >= 2) {
      Triple square[kDogs];  // over the 3 x 3 pixels around the previous row
#pragma unroll
      for (int l = 0; l < kDogs; ++l) {
        square[l] = {fmaxf(fmaxf(before[l].most, now[l].most), here[l].most),
                     fminf(fminf(before[l].least, now[l].least), here[l].least)};
      }
#pragma unroll
      for (int l = 1; l <= intervals; ++l) {
        const float v = centre[l];
        const float above = fmaxf(fmaxf(before[l].most, now[l].most), beside_most[l]);
        const float below = fminf(fminf(before[l].least, now[l].least), beside_least[l]);
        const bool high =
            v > least_height && v >= above && v >= square[l - 1].most && v >= square[l + 1].most;
        const bool low =
            v < -least_height && v <= below && v <= square[l - 1].least && v <= square[l + 1].least;
        if (!(high || low) || !inner) continue;
        const int y = top + row - 2;
        const std::uint32_t place = atomicAdd(list.count, 1u);
        if (place >= list.capacity) continue;
        list.items[place] = {std::uint32_t(image) << 16 | std::uint32_t(octave) << 8 | l,
                             std::uint32_t(y) * o.width + x};
      }
    }
#pragma unroll
    for (int l = 0; l < kDogs; ++l) {
      before[l] = here[l];
      here[l] = now[l];
      centre[l] = value[l];
      beside_most[l] = most[l];
      beside_least[l] = least[l];
    }
  }
}

constexpr int kSettleThreads = 64;

// One thread per extremum: marks the pixel to which its fit converges.
__global__ void __launch_bounds__(kSettleThreads)
    settle_kernel(const __grid_constant__ DeviceSpace space, SiftLimits limits, ExtremumList list,
                  DeviceView<const std::uint8_t> mask, Marks marks) {
  const std::uint32_t count = min(*list.count, list.capacity);
  for (std::uint32_t i = blockIdx.x * kSettleThreads + threadIdx.x; i < count;
       i += gridDim.x * kSettleThreads) {
    const Extremum e = list.items[i];
    const int image = e.place >> 16, octave = e.place >> 8 & 255, level = e.place & 255;
    const DeviceOctave& o = space.octaves[octave];
    LevelPixel at{level, int(e.pixel % o.width), int(e.pixel / o.width)};
    SiftFit fit;
    const auto dog = differences_of(space, octave, image);
    // The search does not reject equal neighbours.
    if (!is_extremum(dog, at.level, at.x, at.y)) continue;
    if (!settle(dog, o.width, o.height, limits, at, fit) || !is_stable(fit, limits)) {
      continue;
    }
    if (!mask.empty()) {
      const MaskPixel on =
          mask_pixel((float(at.x) + fit.dx) * o.step + o.origin,
                     (float(at.y) + fit.dy) * o.step + o.origin, mask.width, mask.height);
      if (mask(on.x, on.y) == 0) continue;
    }
    // Bits and counts do not depend on the order of atomics.
    const std::uint32_t row = (at.level - 1) * o.height + at.y, bit = 1u << at.x % kWarp;
    std::uint32_t* word = marks.bits + std::size_t(image) * space.words + o.first_word +
                          std::size_t(row) * o.words_per_row + at.x / kWarp;
    if (atomicOr(word, bit) & bit) continue;  // another extremum has converged to this pixel
    const std::uint32_t space_row = o.first_row + row;
    atomicAdd(marks.row_counts + std::size_t(image) * space.rows + space_row, 1u);
    atomicAdd(marks.group_counts + image * row_groups(space.rows) + space_row / kGroupRows, 1u);
  }
}

constexpr int kGatherRows = 8;  // rows per block, one row per warp

// Gathers the points of the marked pixels in order (stream compaction).
__global__ void __launch_bounds__(kGatherRows* kWarp)
    gather_kernel(const __grid_constant__ DeviceSpace space, std::uint32_t first_row,
                  std::uint32_t end_row, SiftLimits limits, Marks marks, PointLists points) {
  const int image = blockIdx.y, lane = threadIdx.x % kWarp;
  const std::uint32_t row = first_row + blockIdx.x * kGatherRows + threadIdx.x / kWarp;
  if (row >= end_row) return;
  const std::uint32_t* row_counts = marks.row_counts + std::size_t(image) * space.rows;
  const std::uint32_t* group_counts = marks.group_counts + image * row_groups(space.rows);
  const std::uint32_t group = row / kGroupRows;
  // The number of points in the groups of rows before this one, and in the rows of this group
  // before this row.
  const std::uint32_t place =
      warp_sum_of(group_counts, 0, group) + warp_sum_of(row_counts, group * kGroupRows, row);
  if (row == end_row - 1 && lane == 0) points.counts[image] = place + row_counts[row];
  if (row_counts[row] == 0) return;

  int octave = 0;
  while (octave + 1 < space.count && space.octaves[octave + 1].first_row <= row) ++octave;
  const DeviceOctave& o = space.octaves[octave];
  const std::uint32_t row_in_octave = row - o.first_row;
  const int level = 1 + row_in_octave / o.height, y = row_in_octave % o.height;
  const std::uint32_t* words = marks.bits + std::size_t(image) * space.words + o.first_word +
                               std::size_t(row_in_octave) * o.words_per_row;
  SiftPoint* out = points.of(image);
  const auto dog = differences_of(space, octave, image);
  gather_marks(words, o.words_per_row, place, [&](int x, std::uint32_t to) {
    if (to >= points.capacity) return;
    const LevelPixel at{level, x, y};
    out[to] = point_of(at, fit_at(dog, at.level, at.x, at.y), octave, limits);
  });
}

}  // namespace

void enqueue_extrema(cudaStream_t stream, const DeviceSpace& space, int octave,
                     const SiftLimits& limits, const ExtremumList& list) {
  const DeviceOctave& o = space.octaves[octave];
  const int rows = o.height - 2 * kSiftBorder, columns = o.width - 2 * kSiftBorder;
  constexpr int kManyPixels = 1 << 19;
  const bool few = std::size_t(rows) * columns * space.images < kManyPixels;
  const int strip = few ? kShortStrip : kLongStrip;
  const dim3 grid(divide_up(rows, strip * kStripWarps), divide_up(columns, kInner), space.images);
  auto launch = [&](auto kernel) {
    kernel<<<grid, kStripWarps * kWarp, 0, stream>>>(space, octave, 0.5f * limits.contrast, list);
  };
  [&]<int... n>(std::integer_sequence<int, n...>) {
    ((limits.intervals == n + 1 ? few ? launch(extrema_kernel<n + 1, kShortStrip>)
                                      : launch(extrema_kernel<n + 1, kLongStrip>)
                                : void()),
     ...);
  }
  (std::make_integer_sequence<int, kMostIntervals>{});
  cuda_check_launch("SIFT: extrema");
}

void enqueue_settle(cudaStream_t stream, const DeviceSpace& space, const SiftLimits& limits,
                    const ExtremumList& list, DeviceView<const std::uint8_t> mask,
                    const Marks& marks) {
  constexpr int kBlocks = 512;
  settle_kernel<<<kBlocks, kSettleThreads, 0, stream>>>(space, limits, list, mask, marks);
  cuda_check_launch("SIFT: fits");
}

void enqueue_gather(cudaStream_t stream, const DeviceSpace& space, int first_octave, int octaves,
                    const SiftLimits& limits, const Marks& marks, const PointLists& points) {
  const int end = first_octave + octaves;
  const std::uint32_t first_row = space.octaves[first_octave].first_row;
  const std::uint32_t end_row = end < space.count ? space.octaves[end].first_row : space.rows;
  const dim3 grid(divide_up(end_row - first_row, std::uint32_t(kGatherRows)), space.images);
  gather_kernel<<<grid, kGatherRows * kWarp, 0, stream>>>(space, first_row, end_row, limits, marks,
                                                          points);
  cuda_check_launch("SIFT: points in order");
}

}  // namespace cornea::sift
