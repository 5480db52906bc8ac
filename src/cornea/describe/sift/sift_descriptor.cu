// SPDX-License-Identifier: Apache-2.0
#include "cornea/describe/sift/device_sift.h"

namespace cornea::sift {
namespace {

using namespace core;

constexpr int kThreads = 128;  // a block processes one feature at a time, one byte of it per thread
// The layout for a grid with `per_cell` samples per side of a cell.
template <int per_cell>
struct Grid {
  static constexpr int kSide = (kCells + 1) * per_cell, kSamples = kSide * kSide;
  static constexpr int kPatch = per_cell;  // neighbouring samples that a warp processes at a time
  // Each row of samples gives a histogram for each cell across it. The pitch avoids bank conflicts
  // between threads that read neighbouring cells and directions.
  static constexpr int kTasks = kSide * kCells, kTaskPitch = kTasks + (12 - kTasks % 8) % 8;
  static_assert(kSide % kPatch == 0 && kTasks <= kThreads && kTaskPitch % 8 == 4);
};
static_assert(kDescriptorLength == kThreads && kDirections == 8 && kCells == 4);
static_assert(Grid<kPerCell>::kSide == kGrid && kPooledPerCell <= kPerCell);

// The pixels around a point that its samples touch are copied to shared memory. The default options
// need at most 77 x 77; points with a larger window are sampled directly from the level.
constexpr int kWindow = 78, kWindowPitch = kWindow + 1;

struct Window {
  const float* pixels;  // address of pixel (left, top)
  int pitch, left, top;
};

// The pixel to the upper left of sample (i, j), and the fractional position.
struct Place {
  int column, row;
  float fx, fy, weight;
};
__device__ Place place_of_sample(DeviceView<const float> level, const SampleFrame& frame, int i,
                                 int j, float weight) {
  const float row_x = frame.x + static_cast<float>(j) * frame.vx;
  const float row_y = frame.y + static_cast<float>(j) * frame.vy;
  const float x = row_x + static_cast<float>(i) * frame.ux;
  const float y = row_y + static_cast<float>(i) * frame.uy;
  if (!is_sampled(x, y, level.width, level.height)) return {-1, -1, 0, 0, 0};
  const int column = static_cast<int>(x), row = static_cast<int>(y);
  return {column, row, x - static_cast<float>(column), y - static_cast<float>(row), weight};
}

// The gradients at the samples of a point, one sample per thread. Each warp takes 4 x 8 of them at
// a time (or 3 x 11), which lie closer together, and in fewer cache lines, than a row would.
template <int per_cell, bool staged, bool affine>
__device__ void sample(DeviceView<const float> level, const SampleFrame& frame,
                       const Window& window, const float* gaussian, float* magnitudes,
                       float* directions) {
  constexpr int kSide = Grid<per_cell>::kSide, kPatch = Grid<per_cell>::kPatch;
  for (int s = threadIdx.x; s < Grid<per_cell>::kSamples; s += kThreads) {
    const int i = s / (kSide * kPatch) * kPatch + s % kPatch, j = s / kPatch % kSide;
    const Place place = place_of_sample(level, frame, i, j, gaussian[i] * gaussian[j]);
    float magnitude = 0, direction = 0;
    if (place.column >= 0) {
      const float fx = place.fx, fy = place.fy;
      const int pitch = staged ? kWindowPitch : window.pitch;
      const float* r1 = window.pixels + std::ptrdiff_t(place.row - window.top) * pitch +
                        (place.column - window.left) - 1;
      const float *r0 = r1 - pitch, *r2 = r1 + pitch, *r3 = r2 + pitch;
      const float a0 = r1[0], a1 = r1[1], a2 = r1[2], a3 = r1[3];
      const float b0 = r2[0], b1 = r2[1], b2 = r2[2], b3 = r2[3];
      const float up1 = r0[1], up2 = r0[2], down1 = r3[1], down2 = r3[2];
      const float across0 = mix(a0, b0, fy), across1 = mix(a1, b1, fy);
      const float across2 = mix(a2, b2, fy), across3 = mix(a3, b3, fy);
      const float gx = mix(across2 - across0, across3 - across1, fx);
      const float gy = mix(mix(b1 - up1, down1 - a1, fy), mix(b2 - up2, down2 - a2, fy), fx);
      const float along = frame.ax * gx + frame.ay * gy;
      const float aside = frame.bx * gx + frame.by * gy;
      direction = turn_of(aside, along) * float(kDirections);
      // A rotation alone does not change the magnitude.
      magnitude = sqrtf(affine ? along * along + aside * aside : gx * gx + gy * gy) * place.weight;
    }
    magnitudes[j * kSide + i] = magnitude;
    directions[j * kSide + i] = direction;
  }
}

// Copies the pixels that the samples touch. Returns false if there are too many.
template <int per_cell>
__device__ bool stage(DeviceView<const float> level, const SampleFrame& frame, float* pixels,
                      Window& window) {
  constexpr float kLast = Grid<per_cell>::kSide - 1;
  const float dx = kLast * frame.ux, dy = kLast * frame.uy;  // along one side of the grid
  const float ex = kLast * frame.vx, ey = kLast * frame.vy;  // along the other side
  const float least_x = frame.x + fminf(dx, 0) + fminf(ex, 0);
  const float most_x = frame.x + fmaxf(dx, 0) + fmaxf(ex, 0);
  const float least_y = frame.y + fminf(dy, 0) + fminf(ey, 0);
  const float most_y = frame.y + fmaxf(dy, 0) + fmaxf(ey, 0);
  // Rounding may move a sample slightly beyond the computed corners, so one more pixel is copied on
  // each side.
  const int left = max(static_cast<int>(least_x) - 2, 0);
  const int top = max(static_cast<int>(least_y) - 2, 0);
  const int right = min(static_cast<int>(most_x) + 3, level.width - 1);
  const int bottom = min(static_cast<int>(most_y) + 3, level.height - 1);
  if (right - left >= kWindow || bottom - top >= kWindow) {
    window = {level.data, static_cast<int>(level.stride), 0, 0};
    return false;
  }
  window = {pixels, kWindowPitch, left, top};
  const int lane = threadIdx.x % kWarp;
  for (int y = top + int(threadIdx.x) / kWarp; y <= bottom; y += kThreads / kWarp) {
    const float* row = level.row(y);
    for (int x = left + lane; x <= right; x += kWarp) {
      pixels[(y - top) * kWindowPitch + x - left] = __ldg(row + x);
    }
  }
  return true;
}

// Distributes the samples of a row between directions, for one cell: one thread per row and cell.
template <int per_cell>
__device__ void share_out(const float* magnitudes, const float* directions, float* histograms) {
  constexpr int kTaskPitch = Grid<per_cell>::kTaskPitch;
  if (threadIdx.x >= Grid<per_cell>::kTasks) return;
  const int row = threadIdx.x / kCells, cell = threadIdx.x % kCells;
  float* histogram = histograms + threadIdx.x;
#pragma unroll
  for (int d = 0; d < kDirections; ++d) histogram[d * kTaskPitch] = 0;
#pragma unroll
  for (int k = 0; k < 2 * per_cell; ++k) {
    const int s = row * Grid<per_cell>::kSide + cell * per_cell + k;
    const DirectionShares to = direction_shares(directions[s], magnitudes[s]);
    const float to_second = second_share(k, per_cell);
    const float share = k < per_cell ? to_second : 1.0f - to_second;
    histogram[to.first * kTaskPitch] += to.to_first * share;
    histogram[to.second * kTaskPitch] += to.to_second * share;
  }
}

// kDescriptorLength values held by one warp: lane l has the values l, l + 32, l + 64 and l + 96.
struct LaneValues {
  float of[kCells];
  template <class F>
  __device__ float sum(F&& f) const {
    return warp_sum(((f(of[0]) + f(of[1])) + f(of[2])) + f(of[3]));
  }
  __device__ float norm() const {
    return sqrtf(sum([](float v) { return v * v; }));
  }
};

__device__ LaneValues cut_values(const float* values) {
  const int lane = threadIdx.x % kWarp;
  LaneValues value;
#pragma unroll
  for (int k = 0; k < kCells; ++k) value.of[k] = values[k * kWarp + lane];
  const float most = kDescriptorCut * value.norm();
#pragma unroll
  for (float& v : value.of) v = fminf(v, most);
  return value;
}

// Quantises the values and returns four neighbouring bytes per lane.
__device__ std::uint32_t bytes_of_values(const LaneValues& value, bool root, std::uint8_t* staged) {
  const int lane = threadIdx.x % kWarp;
  const float size = root ? value.sum([](float v) { return v; }) : value.norm();
  const float scale = size > 0 ? (root ? 1.0f : 512.0f) / size : 0.0f;
#pragma unroll
  for (int k = 0; k < kCells; ++k) {
    const float v = value.of[k] * scale;
    staged[k * kWarp + lane] = descriptor_byte(root ? 512.0f * sqrtf(v) : v);
  }
  __syncwarp();
  return reinterpret_cast<const std::uint32_t*>(staged)[lane];
}

struct Scratch {
  float pixels[kWindow * kWindowPitch];
  float magnitudes[kGrid * kGrid], directions[kGrid * kGrid];
  float histograms[kDirections * Grid<kPerCell>::kTaskPitch];
  float values[kDescriptorLength];
  __align__(4) std::uint8_t bytes[kDescriptorLength];
  float gaussian[kGrid];
};

// The sums of all cells, in scratch.values, before they are normalised.
template <int per_cell, bool affine>
__device__ void cells_of(DeviceView<const float> level, const SampleFrame& frame,
                         Scratch& scratch) {
  Window window;
  const bool staged =
      stage<per_cell>(level, frame, scratch.pixels, window);  // uniform over the block
  __syncthreads();
  staged ? sample<per_cell, true, affine>(level, frame, window, scratch.gaussian,
                                          scratch.magnitudes, scratch.directions)
         : sample<per_cell, false, affine>(level, frame, window, scratch.gaussian,
                                           scratch.magnitudes, scratch.directions);
  __syncthreads();
  share_out<per_cell>(scratch.magnitudes, scratch.directions, scratch.histograms);
  __syncthreads();
  // One thread per cell and direction: the sum over the rows of samples around it.
  const int row = threadIdx.x / kWarp, cell = threadIdx.x % kWarp / kDirections;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 2 * per_cell; ++k) {
    const int task = (row * per_cell + k) * kCells + cell;
    const float to_second = second_share(k, per_cell);
    const float share = k < per_cell ? to_second : 1.0f - to_second;
    constexpr int kTaskPitch = Grid<per_cell>::kTaskPitch;
    sum += share * scratch.histograms[threadIdx.x % kDirections * kTaskPitch + task];
  }
  scratch.values[threadIdx.x] = sum;
  __syncthreads();
}

// The descriptor of a feature, held by the first warp, before it is quantised to bytes.
template <bool affine, bool pooled>
__device__ LaneValues describe(const DeviceSpace& space, int image, const SiftPoint& point,
                               const PointShape& shape, float turn, const SizeLevels& sizes,
                               Scratch& scratch) {
  constexpr int kSide = Grid < pooled ? kPooledPerCell : kPerCell > ::kSide;
  auto frame_of = [&](float scale) {
    const float spacing = descriptor_spacing(scale, pooled ? kPooledPerCell : kPerCell);
    return affine ? turned_frame(point.x, point.y, spacing, kSide, shape, turn)
                  : round_frame(point.x, point.y, spacing, kSide, turn);
  };
  const int own = affine ? affine_level(point.level) : point.level;
  if constexpr (!pooled) {
    cells_of<kPerCell, affine>(space.level(point.octave, own, image), frame_of(point.scale),
                               scratch);
    return threadIdx.x < kWarp ? cut_values(scratch.values) : LaneValues{};
  } else {
    LaneValues sums{};
    for (int k = 0; k < kSizes; ++k) {
      const DeviceView<const float> level = space.level(point.octave, sizes.at(own, k), image);
      cells_of<kPooledPerCell, true>(level, frame_of(domain_size(k) * point.scale), scratch);
      if (threadIdx.x >= kWarp) continue;
      const LaneValues value = cut_values(scratch.values);
      const float norm = value.norm();
      const float scale = norm > 0 ? 1.0f / norm : 0.0f;
#pragma unroll
      for (int v = 0; v < kCells; ++v) sums.of[v] += value.of[v] * scale;
    }
    return sums;
  }
}

template <bool affine, bool pooled>
__global__ void __launch_bounds__(kThreads)
    descriptor_kernel(const __grid_constant__ DeviceSpace space, PointLists points,
                      FeatureLists features, const __grid_constant__ DescriptorRule rule,
                      FeatureTargets out) {
  __shared__ Scratch scratch;
  const int image = blockIdx.y;
  constexpr int kOfCell = pooled ? kPooledPerCell : kPerCell;
  if (threadIdx.x < Grid<kOfCell>::kSide) {
    scratch.gaussian[threadIdx.x] = sample_weight(threadIdx.x, kOfCell);
  }
  const std::uint32_t end = features.end(image);
  for (std::uint32_t f = features.begin(image) + blockIdx.x; f < end; f += gridDim.x) {
    const OrientedPoint feature = features.of(image)[f];
    const SiftPoint point = points.of(image)[feature.point];
    PointShape shape;
    if (affine) shape = rule.shapes[std::size_t(image) * points.capacity + feature.point];
    const LaneValues values =
        describe<affine, pooled>(space, image, point, shape, feature.turn, rule.sizes, scratch);
    if (threadIdx.x >= kWarp) continue;
    const std::size_t at = std::size_t(image) * features.capacity + f;
    const std::uint32_t four = bytes_of_values(values, rule.root, scratch.bytes);
    const int lane = threadIdx.x;
    reinterpret_cast<std::uint32_t*>(out.descriptors + at * kDescriptorLength)[lane] = four;
    if (out.device_descriptors) {
      reinterpret_cast<std::uint32_t*>(out.device_descriptors + at * kDescriptorLength)[lane] =
          four;
    }
    if (lane == 0) {
      const DeviceOctave& o = space.octaves[point.octave];
      out.keypoints[at] =
          affine ? affine_keypoint(point, shape, o.step, o.origin, o.index, feature.turn)
                 : keypoint_of(point, o.step, o.origin, o.index, feature.turn);
    }
  }
}

template <bool affine, bool pooled>
void launch(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
            const FeatureLists& features, const DescriptorRule& rule, const FeatureTargets& out) {
  constexpr int kBlocks = 132 * 7;  // as many blocks as an H200 runs concurrently
  descriptor_kernel<affine, pooled>
      <<<dim3(kBlocks, space.images), kThreads, 0, stream>>>(space, points, features, rule, out);
}

}  // namespace

void enqueue_descriptors(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                         const FeatureLists& features, const DescriptorRule& rule,
                         const FeatureTargets& out) {
  auto* kernel = rule.shapes ? (rule.pooled ? launch<true, true> : launch<true, false>)
                             : (rule.pooled ? launch<false, true> : launch<false, false>);
  kernel(stream, space, points, features, rule, out);
  cuda_check_launch("SIFT: descriptors");
}

}  // namespace cornea::sift
