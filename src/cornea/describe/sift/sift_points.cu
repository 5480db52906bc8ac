#include <cub/block/block_scan.cuh>

#include "cornea/describe/sift/device_sift.h"
#include "cornea/detect/peaks/peaks_math.h"
#include "cornea/detect/peaks/radix_select.h"

namespace cornea {
namespace {

constexpr int kThreads = 1024;
constexpr int kItems = 4;  // of a thread at a time

// Goes through `count` items of which each stands for number(i) >= 0 equal ones of value(i), keeps
// the `most` of the highest values (of equal ones the first) and hands emit(i, kept, before) how
// many of item i are kept and how many of the items before it. Returns how many there are. By all
// threads of a block.
template <class Number, class Value, class Emit>
__device__ std::uint32_t keep_in_order(std::uint32_t count, std::uint32_t most,
                                       const Number& number, const Value& value, const Emit& emit) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint32_t total;
  LastKept<std::uint32_t> last{0, ~0u};
  if (most > 0) {
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    std::uint32_t mine = 0;
    for (std::uint32_t i = threadIdx.x; i < count; i += kThreads) mine += number(i);
    atomicAdd(&total, mine);
    __syncthreads();
    if (total > most) {
      last = find_last_kept<std::uint32_t>(most, [&](auto&& f) {
        for (std::uint32_t i = threadIdx.x; i < count; i += kThreads) {
          for (std::uint32_t k = number(i); k > 0; --k) f(ordered_bits(value(i)));
        }
      });
    }
  }
  std::uint32_t before = 0, equals_before = 0;
  for (std::uint32_t base = 0; base < count; base += kThreads * kItems) {
    std::uint32_t kept[kItems], equal[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const std::uint32_t i = base + threadIdx.x * kItems + k;
      const std::uint32_t n = i < count ? number(i) : 0;
      const std::uint32_t v = n > 0 ? ordered_bits(value(i)) : 0;
      kept[k] = v > last.value || last.room == ~0u ? n : 0;
      equal[k] = v == last.value && last.room != ~0u ? n : 0;
    }
    if (last.room != ~0u) {  // the same in all threads
      std::uint32_t place[kItems], sum;
      Scan(storage).ExclusiveSum(equal, place, sum);
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kItems; ++k) {
        const std::uint32_t at = equals_before + place[k];
        if (at < last.room) kept[k] += min(equal[k], last.room - at);
      }
      equals_before += sum;
    }
    std::uint32_t place[kItems], sum;
    Scan(storage).ExclusiveSum(kept, place, sum);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      if (kept[k] > 0) emit(base + threadIdx.x * kItems + k, kept[k], before + place[k]);
    }
    before += sum;
  }
  return before;
}

__global__ void __launch_bounds__(kThreads)
    point_cap_kernel(PointLists points, const std::uint8_t* keep, std::uint32_t most,
                     PointLists kept) {
  const int image = blockIdx.x;
  const SiftPoint* from = points.of(image);
  SiftPoint* to = kept.of(image);
  if (keep) keep += std::size_t(image) * points.capacity;
  const std::uint32_t count = points.end(image);
  const std::uint32_t left = keep_in_order(
      count, most, [&](std::uint32_t i) { return keep ? std::uint32_t(keep[i]) : 1u; },
      [&](std::uint32_t i) { return from[i].response; },
      [&](std::uint32_t i, std::uint32_t, std::uint32_t at) {
        if (at < kept.capacity) to[at] = from[i];
      });
  if (threadIdx.x == 0) kept.counts[image] = left;
}

constexpr int kFeatureThreads = 128;

// The features of every point, a point a thread.
__global__ void __launch_bounds__(kFeatureThreads)
    features_kernel(PointLists points, AngleLists angles, FeatureLists features) {
  const int image = blockIdx.y, lane = threadIdx.x % kWarp;
  const std::size_t first = std::size_t(image) * points.capacity;
  const std::uint32_t begin = points.begin(image), end = points.end(image);
  const std::uint32_t i = begin + blockIdx.x * kFeatureThreads + threadIdx.x;
  const std::uint32_t warp_first = i - lane;
  if (begin >= end && i == begin) features.counts[image] = features.begin(image);
  if (warp_first >= end) return;
  const std::uint32_t* group_counts = angles.group_counts + image * point_groups(points.capacity);
  const std::uint32_t group = warp_first / kGroupPoints;
  // Features of the groups before this one, and of the points of this group before this warp.
  std::uint32_t place = 0;
  for (std::uint32_t g = lane; g < group; g += kWarp) place += group_counts[g];
  for (std::uint32_t k = group * kGroupPoints + lane; k < warp_first; k += kWarp) {
    place += angles.counts[first + k];
  }
  place = warp_sum(place);
  const std::uint32_t mine = i < end ? angles.counts[first + i] : 0;
  const std::uint32_t through = warp_running_sum(mine);
  if (i == end - 1) features.counts[image] = place + through;
  place += through - mine;
  OrientedPoint* to = features.of(image);
  for (std::uint32_t k = 0; k < mine && place + k < features.capacity; ++k) {
    to[place + k] = {i, angles.turns[(first + i) * kMostAngles + k]};
  }
}

// The features of the strongest points.
__global__ void __launch_bounds__(kThreads)
    strongest_features_kernel(PointLists points, AngleLists angles, std::uint32_t most,
                              FeatureLists features) {
  const int image = blockIdx.x;
  const std::size_t first = std::size_t(image) * points.capacity;
  const SiftPoint* from = points.of(image);
  OrientedPoint* to = features.of(image);
  const std::uint32_t count = points.end(image);
  const std::uint32_t left = keep_in_order(
      count, most, [&](std::uint32_t i) { return std::uint32_t(angles.counts[first + i]); },
      [&](std::uint32_t i) { return from[i].response; },
      [&](std::uint32_t i, std::uint32_t kept, std::uint32_t at) {
        for (std::uint32_t k = 0; k < kept && at + k < features.capacity; ++k) {
          to[at + k] = {i, angles.turns[(first + i) * kMostAngles + k]};
        }
      });
  if (threadIdx.x == 0) features.counts[image] = left;
}

__global__ void one_each_kernel(PointLists points, AngleLists angles, const float* turns,
                                FeatureLists features) {
  const std::uint32_t count = *points.counts;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    const float found = angles.counts[i] > 0 ? angles.turns[i * kMostAngles] : 0.0f;
    features.features[i] = {i, turns ? turns[i] : found};
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *features.counts = count;
}

constexpr int kCellThreads = 128;

// A point a thread: kept if fewer than `most` of its cell are stronger, or equal and before it.
__global__ void __launch_bounds__(kCellThreads)
    cell_kernel(const __grid_constant__ DeviceSpace space, PointLists points, int cell,
                std::uint32_t most, std::uint8_t* keep) {
  struct Rival {
    float response;
    int column, row;
  };
  __shared__ Rival rivals[kCellThreads];
  const int image = blockIdx.y;
  const SiftPoint* all = points.of(image);
  const std::uint32_t count = points.end(image);
  auto rival = [&](std::uint32_t i) {
    const SiftPoint& p = all[i];
    const DeviceOctave& o = space.octaves[p.octave];
    const Keypoint k = keypoint_of(p, o.step, o.origin, o.index, 0);
    return Rival{k.response, cell_index(k.x, cell), cell_index(k.y, cell)};
  };
  for (std::uint32_t first = blockIdx.x * kCellThreads; first < count;
       first += gridDim.x * kCellThreads) {
    const std::uint32_t i = first + threadIdx.x;
    const Rival mine = i < count ? rival(i) : Rival{};
    std::uint32_t stronger = 0;
    for (std::uint32_t base = 0; base < count; base += kCellThreads) {
      __syncthreads();
      if (base + threadIdx.x < count) rivals[threadIdx.x] = rival(base + threadIdx.x);
      __syncthreads();
      const std::uint32_t n = min(std::uint32_t(kCellThreads), count - base);
      for (std::uint32_t k = 0; k < n; ++k) {
        const Rival& r = rivals[k];
        const bool ahead =
            r.response > mine.response || (r.response == mine.response && base + k < i);
        stronger += ahead && r.column == mine.column && r.row == mine.row;
      }
    }
    if (i < count) keep[std::size_t(image) * points.capacity + i] = stronger < most;
  }
}

}  // namespace

void enqueue_cell_cap(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                      int cell, int most, std::uint8_t* keep) {
  constexpr int kBlocks = 512;
  cell_kernel<<<dim3(kBlocks, space.images), kCellThreads, 0, stream>>>(space, points, cell, most,
                                                                        keep);
  cuda_check_launch("SIFT: cap by cell");
}

void enqueue_point_cap(cudaStream_t stream, int images, const PointLists& points,
                       const std::uint8_t* keep, std::uint32_t most, const PointLists& kept) {
  point_cap_kernel<<<images, kThreads, 0, stream>>>(points, keep, most, kept);
  cuda_check_launch("SIFT: the strongest points");
}

void enqueue_features(cudaStream_t stream, int images, const PointLists& points,
                      const AngleLists& angles, std::uint32_t most, const FeatureLists& features) {
  if (most > 0) {
    strongest_features_kernel<<<images, kThreads, 0, stream>>>(points, angles, most, features);
  } else {
    const dim3 grid(divide_up(points.capacity, std::uint32_t(kFeatureThreads)), images);
    features_kernel<<<grid, kFeatureThreads, 0, stream>>>(points, angles, features);
  }
  cuda_check_launch("SIFT: features in order");
}

void enqueue_one_each(cudaStream_t stream, const PointLists& points, const AngleLists& angles,
                      const float* turns, const FeatureLists& features) {
  one_each_kernel<<<64, 256, 0, stream>>>(points, angles, turns, features);
  cuda_check_launch("SIFT: a feature a point");
}

}  // namespace cornea
