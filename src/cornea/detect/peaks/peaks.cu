#include <algorithm>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "cornea/core/cuda.h"
#include "cornea/detect/peaks/device_peaks.h"
#include "cornea/detect/peaks/peaks_math.h"
#include "cornea/detect/peaks/strongest.h"

namespace cornea {
namespace {

constexpr int kWarp = 32;
constexpr int kMarkThreads = 256;     // one row a block: a row of 1920 pixels takes 8 turns
constexpr int kGatherRows = 8;        // rows a block, one warp each
constexpr int kSelectThreads = 1024;  // one block a frame: the candidates are few
constexpr int kPointThreads = 256;
constexpr std::size_t kPinnedPoints = 1 << 16;  // a frame; what is more is copied when fetched

template <class R>
__device__ DeviceView<const R> frame_of(DeviceView<const R> first, int frame) {
  return {first.data + frame * (first.stride * first.height), first.width, first.height,
          first.stride};
}

__device__ bool allowed(DeviceView<const std::uint8_t> mask, int x, int y) {
  return mask.data == nullptr || mask(x, y) != 0;
}

// The largest response of the region, one row a block.
template <class R>
__global__ void strongest_kernel(DeviceView<const R> first, Region region,
                                 DeviceView<const std::uint8_t> mask, OrderedBits<R>* strongest) {
  const auto map = frame_of(first, blockIdx.y);
  const int y = region.top + blockIdx.x;
  R best = -INFINITY;
  for (int x = region.left + threadIdx.x; x < region.right; x += kMarkThreads) {
    if (allowed(mask, x, y)) best = max(best, map(x, y));
  }
  raise_strongest(best, strongest + blockIdx.y);
}

// Above the cutoff, and no neighbour beside, above or below is larger: few pixels pass, and only
// they walk over their square. Loads only; they do not wait for each other.
template <class R>
__device__ bool may_be_peak(const R* above, const R* row, const R* below, int x, int width,
                            R cutoff, bool suppress) {
  const R v = __ldg(row + x), l = __ldg(row + max(x - 1, 0)),
          r = __ldg(row + min(x + 1, width - 1));
  const R a = __ldg(above + x), b = __ldg(below + x);
  return v > cutoff && (!suppress || (v >= l && v >= r && v >= a && v >= b));
}

// One bit a pixel where a peak is, and how many each row has. One row a block.
template <class R>
__global__ void mark_kernel(DeviceView<const R> first, Region region,
                            DeviceView<const std::uint8_t> mask, double threshold, bool relative,
                            double unit, int radius, bool first_of_equals,
                            const OrderedBits<R>* strongest, std::uint32_t* marks,
                            int words_per_row, std::uint32_t* row_counts) {
  constexpr int kWarps = kMarkThreads / kWarp;
  constexpr int kWordsAtOnce = 4;  // enough loads in flight to hide their latency
  __shared__ int count;
  const int y = blockIdx.x, frame = blockIdx.y, lane = threadIdx.x % kWarp;
  const auto map = frame_of(first, frame);
  const R best = relative ? from_ordered_bits(strongest[frame]) : R(0);
  const R cutoff = peak_cutoff<R>(threshold, relative, unit, best);
  const std::size_t row_index = std::size_t(frame) * map.height + y;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const R* row = map.row(y);
  const R *above = map.row(max(y - 1, 0)), *below = map.row(min(y + 1, map.height - 1));
  const bool row_inside = y >= region.top && y < region.bottom;
  int mine = 0;
  for (int base = threadIdx.x / kWarp; base < words_per_row; base += kWarps * kWordsAtOnce) {
    bool candidate[kWordsAtOnce];
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k) {
      const int x = (base + k * kWarps) * kWarp + lane;
      candidate[k] =
          may_be_peak(above, row, below, min(x, map.width - 1), map.width, cutoff, radius > 0) &&
          row_inside && x >= region.left && x < region.right;
    }
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k) {
      const int word = base + k * kWarps;
      if (word >= words_per_row) break;
      const int x = word * kWarp + lane;
      const bool peak = candidate[k] && allowed(mask, x, y) &&
                        is_square_maximum(map, x, y, radius, first_of_equals);
      const std::uint32_t bits = __ballot_sync(~0u, peak);
      if (lane == 0) {
        marks[row_index * words_per_row + word] = bits;
        mine += __popc(bits);
      }
    }
  }
  if (mine) atomicAdd(&count, mine);
  __syncthreads();
  if (threadIdx.x == 0) row_counts[row_index] = count;
}

// Keeps a mark if fewer than `cap` marks of its cell are stronger. One cell a block.
template <class R>
__global__ void cell_kernel(DeviceView<const R> first, int cell, int cap,
                            const std::uint32_t* marks, int words_per_row,
                            std::uint32_t* kept_marks, std::uint32_t* kept_counts) {
  const auto map = frame_of(first, blockIdx.z);
  const int left = blockIdx.x * cell, right = min(left + cell, map.width);
  const int top = blockIdx.y * cell, bottom = min(top + cell, map.height);
  const std::size_t frame_row = std::size_t(blockIdx.z) * map.height;
  const int first_word = left / kWarp, word_count = (right - 1) / kWarp - first_word + 1;

  // The marks of one word that lie in this cell.
  auto cell_bits = [&](int word, int y) {
    std::uint32_t bits = marks[(frame_row + y) * words_per_row + word];
    if (word * kWarp < left) bits &= ~0u << (left - word * kWarp);
    if (word * kWarp + kWarp > right) bits &= ~0u >> (word * kWarp + kWarp - right);
    return bits;
  };
  auto has_place = [&](int x, int y) {
    const R value = map(x, y);
    int ahead = 0;
    for (int j = top; j < bottom; ++j) {
      for (int word = first_word; word < first_word + word_count; ++word) {
        for (std::uint32_t bits = cell_bits(word, j); bits; bits &= bits - 1) {
          const int i = word * kWarp + __ffs(bits) - 1;
          const R other = map(i, j);
          const bool before = j < y || (j == y && i < x);
          if ((other > value || (other == value && before)) && ++ahead >= cap) return false;
        }
      }
    }
    return true;
  };

  for (int i = threadIdx.x; i < word_count * (bottom - top); i += blockDim.x) {
    const int word = first_word + i % word_count, y = top + i / word_count;
    std::uint32_t kept = 0;
    for (std::uint32_t bits = cell_bits(word, y); bits; bits &= bits - 1) {
      if (has_place(word * kWarp + __ffs(bits) - 1, y)) kept |= bits & -bits;
    }
    if (!kept) continue;
    // A word may be shared by two cells and a row by many: sums and unions of bits have no order.
    atomicOr(&kept_marks[(frame_row + y) * words_per_row + word], kept);
    atomicAdd(&kept_counts[frame_row + y], __popc(kept));
  }
}

// The marked pixels (y * width + x) in reading order. One warp a row.
__global__ void gather_kernel(const std::uint32_t* marks, int words_per_row,
                              const std::uint32_t* row_counts, int width, int height,
                              std::size_t capacity, std::uint32_t* pixels, std::uint32_t* found) {
  using Reduce = cub::BlockReduce<std::uint32_t, kGatherRows * kWarp>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ std::uint32_t before_block;
  const int frame = blockIdx.y, first_row = blockIdx.x * kGatherRows;
  row_counts += std::size_t(frame) * height;
  std::uint32_t sum = 0;
#pragma unroll 4
  for (int row = threadIdx.x; row < first_row; row += blockDim.x) sum += row_counts[row];
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) before_block = sum;
  __syncthreads();

  const int y = first_row + threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  if (y >= height) return;
  std::uint32_t place = before_block;
  for (int row = first_row; row < y; ++row) place += row_counts[row];
  if (y == height - 1 && lane == 0) found[frame] = place + row_counts[y];
  if (row_counts[y] == 0) return;
  const std::uint32_t* row_marks = marks + (std::size_t(frame) * height + y) * words_per_row;
  pixels += frame * capacity;
  for (int base = 0; base < words_per_row; base += kWarp) {
    std::uint32_t bits = base + lane < words_per_row ? row_marks[base + lane] : 0;
    const int mine = __popc(bits);
    int through = mine;  // marks in the words up to this lane's
    for (int step = 1; step < kWarp; step *= 2) {
      const int other = __shfl_up_sync(~0u, through, step);
      if (lane >= step) through += other;
    }
    std::uint32_t at = place + through - mine;
    for (; bits; bits &= bits - 1) {
      pixels[at++] = std::uint32_t(y) * width + (base + lane) * kWarp + __ffs(bits) - 1;
    }
    place += __shfl_sync(~0u, through, kWarp - 1);
  }
}

// The `count` strongest of a frame's candidates, still in reading order. Radix selection finds the
// bits of the last response that is kept, eight at a time; of candidates equal to it the first ones
// fill what room is left.
template <class R>
__global__ void select_kernel(DeviceView<const R> first, const std::uint32_t* pixels,
                              const std::uint32_t* found, std::size_t capacity, std::uint32_t count,
                              std::uint32_t* chosen, std::uint32_t* counts) {
  using Bits = OrderedBits<R>;
  using Scan = cub::BlockScan<std::uint32_t, kSelectThreads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint32_t histogram[256];
  __shared__ Bits prefix;
  __shared__ std::uint32_t room;
  const int frame = blockIdx.x;
  const auto map = frame_of(first, frame);
  pixels += frame * capacity;
  chosen += frame * capacity;
  const std::uint32_t n = found[frame];
  auto key = [&](std::uint32_t i) {
    return ordered_bits(map(pixels[i] % map.width, pixels[i] / map.width));
  };
  if (threadIdx.x == 0) {
    counts[frame] = min(n, count);
    prefix = 0;
    room = count;
  }
  if (n <= count) {
    for (std::uint32_t i = threadIdx.x; i < n; i += kSelectThreads) chosen[i] = pixels[i];
    return;
  }
  for (int shift = int(sizeof(Bits)) * 8 - 8; shift >= 0; shift -= 8) {
    if (threadIdx.x < 256) histogram[threadIdx.x] = 0;
    __syncthreads();
    const Bits high = shift + 8 == int(sizeof(Bits)) * 8 ? Bits(0) : prefix >> (shift + 8);
    for (std::uint32_t i = threadIdx.x; i < n; i += kSelectThreads) {
      const Bits k = key(i);
      const Bits top = shift + 8 == int(sizeof(Bits)) * 8 ? Bits(0) : k >> (shift + 8);
      if (top == high) atomicAdd(&histogram[(k >> shift) & 255], 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int digit = 255;
      while (histogram[digit] < room) room -= histogram[digit--];
      prefix |= Bits(digit) << shift;
    }
    __syncthreads();
  }
  std::uint32_t placed = 0, equals_seen = 0;
  for (std::uint32_t base = 0; base < n; base += kSelectThreads) {
    const std::uint32_t i = base + threadIdx.x;
    const Bits k = i < n ? key(i) : Bits(0);
    const std::uint32_t equal = i < n && k == prefix;
    std::uint32_t equals_before, equals_here, at, here;
    Scan(storage).ExclusiveSum(equal, equals_before, equals_here);
    __syncthreads();
    const std::uint32_t keep =
        i < n && (k > prefix || (equal && equals_seen + equals_before < room));
    Scan(storage).ExclusiveSum(keep, at, here);
    __syncthreads();
    if (keep) chosen[placed + at] = pixels[i];
    placed += here;
    equals_seen += equals_here;
  }
}

// The points themselves.
template <class R>
__global__ void point_kernel(DeviceView<const R> first, const std::uint32_t* pixels,
                             const std::uint32_t* found, std::size_t capacity, double unit,
                             bool quadratic, Corner* corners, std::uint32_t* counts) {
  const int frame = blockIdx.y;
  const auto map = frame_of(first, frame);
  const std::uint32_t n = found[frame];
  if (blockIdx.x == 0 && threadIdx.x == 0) counts[frame] = n;
  for (std::uint32_t i = blockIdx.x * kPointThreads + threadIdx.x; i < n;
       i += gridDim.x * kPointThreads) {
    const std::uint32_t pixel = pixels[frame * capacity + i];
    corners[frame * capacity + i] =
        corner_at(map, pixel % map.width, pixel / map.width, unit, quadratic);
  }
}

// As many points as there are, as whole words: neighbouring threads write neighbouring words of
// pinned host memory, which makes long bursts over the bus.
__global__ void deliver_kernel(const Corner* corners, const std::uint32_t* counts,
                               std::size_t capacity, Corner* host_corners,
                               std::size_t host_capacity, std::uint32_t* host_counts) {
  constexpr int kWords = sizeof(Corner) / sizeof(float);
  const int frame = blockIdx.y;
  const std::uint32_t n = counts[frame];
  const std::uint32_t words = min(n, std::uint32_t(host_capacity)) * kWords;
  const float* from = reinterpret_cast<const float*>(corners + frame * capacity);
  float* to = reinterpret_cast<float*>(host_corners + frame * host_capacity);
  if (blockIdx.x == 0 && threadIdx.x == 0) host_counts[frame] = n;
  for (std::uint32_t i = blockIdx.x * kPointThreads + threadIdx.x; i < words;
       i += gridDim.x * kPointThreads) {
    to[i] = from[i];
  }
}

// Two peaks lie more than a radius apart where equals count once.
std::size_t most_peaks(int width, int height, const PeakOptions& options) {
  const int step = options.plateaus == Plateaus::first ? options.nms / 2 + 1 : 1;
  return std::size_t(divide_up(width, step)) * divide_up(height, step);
}

// Enough blocks for typical counts in one turn; more points take more turns.
unsigned point_blocks(std::size_t capacity) {
  return std::min<std::size_t>(64, divide_up<std::size_t>(capacity, kPointThreads));
}

}  // namespace

template <class R>
void DevicePeaks::prepare(int width, int height, int frames) {
  make_current(context_);
  words_per_row_ = divide_up(width, kWarp);
  capacity_ = most_peaks(width, height, options_);
  const std::size_t points =
      options_.max_points > 0 ? std::min<std::size_t>(options_.max_points, capacity_) : capacity_;
  pinned_capacity_ = std::min(kPinnedPoints, points);
  const std::size_t rows = std::size_t(height) * frames;
  strongest_.reserve<OrderedBits<R>>(context_, frames);
  marks_.reserve<std::uint32_t>(context_, rows * words_per_row_);
  row_counts_.reserve<std::uint32_t>(context_, rows);
  if (options_.max_per_cell > 0) {
    cell_marks_.reserve<std::uint32_t>(context_, rows * words_per_row_);
    cell_row_counts_.reserve<std::uint32_t>(context_, rows);
  }
  pixels_.reserve<std::uint32_t>(context_, capacity_ * frames);
  if (options_.max_points > 0) chosen_.reserve<std::uint32_t>(context_, capacity_ * frames);
  found_.reserve<std::uint32_t>(context_, frames);
  counts_.reserve<std::uint32_t>(context_, frames);
  corners_.reserve<Corner>(context_, capacity_ * frames);
  host_counts_.reserve<std::uint32_t>(context_, frames);
  host_corners_.reserve<Corner>(context_, pinned_capacity_ * frames);
}

template <class R>
OrderedBits<R>* DevicePeaks::enqueue_reset(int frames) {
  make_current(context_);
  auto* strongest = strongest_.data<OrderedBits<R>>();
  if (options_.relative) {
    cuda_check(cudaMemsetAsync(strongest, 0, frames * sizeof *strongest, cuda_stream(context_)),
               "clearing the strongest response");
  }
  return strongest;
}

template <class R>
void DevicePeaks::cap_cells(DeviceView<const R> first, int frames) {
  constexpr int kCellThreads = 128;
  const cudaStream_t stream = cuda_stream(context_);
  const std::size_t rows = std::size_t(first.height) * frames;
  cuda_check(cudaMemsetAsync(cell_marks_.data<void>(), 0,
                             rows * words_per_row_ * sizeof(std::uint32_t), stream),
             "clearing marks");
  cuda_check(
      cudaMemsetAsync(cell_row_counts_.data<void>(), 0, rows * sizeof(std::uint32_t), stream),
      "clearing row counts");
  const dim3 grid(divide_up(first.width, options_.cell), divide_up(first.height, options_.cell),
                  frames);
  cell_kernel<R><<<grid, kCellThreads, 0, stream>>>(
      first, options_.cell, options_.max_per_cell, marks_.data<std::uint32_t>(), words_per_row_,
      cell_marks_.data<std::uint32_t>(), cell_row_counts_.data<std::uint32_t>());
  cuda_check_launch("peaks: cap by cell");
}

template <class R>
void DevicePeaks::enqueue_search(DeviceView<const R> first, int frames, Region region,
                                 DeviceView<const std::uint8_t> mask, double unit,
                                 bool strongest_known) {
  make_current(context_);
  const cudaStream_t stream = cuda_stream(context_);
  auto* strongest = strongest_.data<OrderedBits<R>>();
  if (options_.relative && !strongest_known && !region.empty()) {
    strongest_kernel<R><<<dim3(region.bottom - region.top, frames), kMarkThreads, 0, stream>>>(
        first, region, mask, strongest);
    cuda_check_launch("peaks: strongest response");
  }
  mark_kernel<R><<<dim3(first.height, frames), kMarkThreads, 0, stream>>>(
      first, region, mask, options_.threshold, options_.relative, unit, options_.nms / 2,
      options_.plateaus == Plateaus::first, strongest, marks_.data<std::uint32_t>(), words_per_row_,
      row_counts_.data<std::uint32_t>());
  cuda_check_launch("peaks: marks");
  const bool by_cell = options_.max_per_cell > 0;
  if (by_cell) cap_cells(first, frames);
  gather_kernel<<<dim3(divide_up(first.height, kGatherRows), frames), kGatherRows * kWarp, 0,
                  stream>>>(
      (by_cell ? cell_marks_ : marks_).template data<std::uint32_t>(), words_per_row_,
      (by_cell ? cell_row_counts_ : row_counts_).template data<std::uint32_t>(), first.width,
      first.height, capacity_, pixels_.data<std::uint32_t>(), found_.data<std::uint32_t>());
  cuda_check_launch("peaks: reading order");
  if (options_.max_points > 0) {
    select_kernel<R><<<frames, kSelectThreads, 0, stream>>>(
        first, pixels_.data<std::uint32_t>(), found_.data<std::uint32_t>(), capacity_,
        options_.max_points, chosen_.data<std::uint32_t>(), counts_.data<std::uint32_t>());
    cuda_check_launch("peaks: the strongest");
  }
  const bool by_count = options_.max_points > 0;
  point_kernel<R><<<dim3(point_blocks(capacity_), frames), kPointThreads, 0, stream>>>(
      first, (by_count ? chosen_ : pixels_).template data<std::uint32_t>(),
      (by_count ? counts_ : found_).template data<std::uint32_t>(), capacity_, unit,
      options_.subpixel == Subpixel::quadratic, corners_.data<Corner>(),
      counts_.data<std::uint32_t>());
  cuda_check_launch("peaks: points");
}

void DevicePeaks::enqueue_delivery(int frames) {
  make_current(context_);
  deliver_kernel<<<dim3(point_blocks(pinned_capacity_), frames), kPointThreads, 0,
                   cuda_stream(context_)>>>(corners_.data<Corner>(), counts_.data<std::uint32_t>(),
                                            capacity_, host_corners_.data<Corner>(),
                                            pinned_capacity_, host_counts_.data<std::uint32_t>());
  cuda_check_launch("peaks: delivery");
}

std::vector<Corner> DevicePeaks::fetch(int frame) const {
  const std::size_t n = host_counts_.data<std::uint32_t>()[frame];
  const Corner* host = host_corners_.data<Corner>() + frame * pinned_capacity_;
  const std::size_t here = std::min(n, pinned_capacity_);
  std::vector<Corner> corners(host, host + here);
  context_.count_download(sizeof(std::uint32_t) + here * sizeof(Corner));
  if (n > here) {
    corners.resize(n);
    const std::size_t bytes = (n - here) * sizeof(Corner);
    context_.download(corners.data() + here, bytes, device_points(frame) + here, bytes, bytes, 1);
    context_.synchronize();
  }
  return corners;
}

template void DevicePeaks::prepare<float>(int, int, int);
template void DevicePeaks::prepare<double>(int, int, int);
template OrderedBits<float>* DevicePeaks::enqueue_reset<float>(int);
template OrderedBits<double>* DevicePeaks::enqueue_reset<double>(int);
template void DevicePeaks::enqueue_search(DeviceView<const float>, int, Region,
                                          DeviceView<const std::uint8_t>, double, bool);
template void DevicePeaks::enqueue_search(DeviceView<const double>, int, Region,
                                          DeviceView<const std::uint8_t>, double, bool);

}  // namespace cornea
