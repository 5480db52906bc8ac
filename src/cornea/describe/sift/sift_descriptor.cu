#include "cornea/describe/sift/device_sift.h"

namespace cornea::sift {
namespace {

using namespace core;

constexpr int kThreads = 128;  // a block takes a feature at a time, a byte of it a thread
constexpr int kSamples = kGrid * kGrid;
constexpr int kPatch = 4;  // samples side by side that a warp takes at a time
// A row of samples gives each cell across it a histogram. Threads that read neighbouring cells and
// directions do not collide.
constexpr int kTasks = kGrid * kCells, kTaskPitch = kTasks + 4;
static_assert(kDescriptorLength == kThreads && kDirections == 8 && kCells == 4);
static_assert(kGrid % kPatch == 0 && kTasks <= kThreads && kTaskPitch % 8 == 4);

// The pixels around a point that its samples touch are copied here. The default options need 77 x
// 77 at most; points with a larger window are sampled where the level lies.
constexpr int kWindow = 78, kWindowPitch = kWindow + 1;

struct Window {
  const float* pixels;  // of (left, top)
  int pitch, left, top;
};

// The pixel before the place of sample (i, j), and the place between pixels.
struct Place {
  int column, row;
  float fx, fy, weight;
};
__device__ Place place_of_sample(DeviceView<const float> level, const DescriptorFrame& frame, int i,
                                 int j, float weight) {
  const float row_x = frame.x - static_cast<float>(j) * frame.ay;
  const float row_y = frame.y + static_cast<float>(j) * frame.ax;
  const float x = row_x + static_cast<float>(i) * frame.ax;
  const float y = row_y + static_cast<float>(i) * frame.ay;
  if (!is_sampled(x, y, level.width, level.height)) return {-1, -1, 0, 0, 0};
  const int column = static_cast<int>(x), row = static_cast<int>(y);
  return {column, row, x - static_cast<float>(column), y - static_cast<float>(row), weight};
}

// The gradients at the samples of a point, one sample per thread. A warp takes 4 x 8 of them at a
// time, which lie closer together, and in fewer lines of memory, than a row would.
template <bool staged>
__device__ void sample(DeviceView<const float> level, const DescriptorFrame& frame,
                       const Window& window, const float* gaussian, float* magnitudes,
                       float* directions) {
  for (int s = threadIdx.x; s < kSamples; s += kThreads) {
    const int i = s / (kGrid * kPatch) * kPatch + s % kPatch, j = s / kPatch % kGrid;
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
      const float along = frame.rotation.cosine * gx + frame.rotation.sine * gy;
      const float aside = frame.rotation.cosine * gy - frame.rotation.sine * gx;
      direction = turn_of(aside, along) * float(kDirections);
      magnitude = sqrtf(gx * gx + gy * gy) * place.weight;
    }
    magnitudes[j * kGrid + i] = magnitude;
    directions[j * kGrid + i] = direction;
  }
}

// Copies the pixels that the samples touch. False where they are too many.
__device__ bool stage(DeviceView<const float> level, const DescriptorFrame& frame, float* pixels,
                      Window& window) {
  constexpr float kLast = kGrid - 1;
  const float dx = kLast * frame.ax, dy = kLast * frame.ay;  // along a side
  const float least_x = frame.x + fminf(dx, 0) + fminf(-dy, 0);
  const float most_x = frame.x + fmaxf(dx, 0) + fmaxf(-dy, 0);
  const float least_y = frame.y + fminf(dy, 0) + fminf(dx, 0);
  const float most_y = frame.y + fmaxf(dy, 0) + fmaxf(dx, 0);
  // Rounding may carry a sample a little further than the corners say: a pixel more on each side.
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

// Shares a row's samples out between directions, for one cell: a row of a cell a thread.
__device__ void share_out(const float* magnitudes, const float* directions, float* histograms) {
  if (threadIdx.x >= kTasks) return;
  const int row = threadIdx.x / kCells, cell = threadIdx.x % kCells;
  float* histogram = histograms + threadIdx.x;
#pragma unroll
  for (int d = 0; d < kDirections; ++d) histogram[d * kTaskPitch] = 0;
#pragma unroll
  for (int k = 0; k < 2 * kPerCell; ++k) {
    const int s = row * kGrid + cell * kPerCell + k;
    const DirectionShares to = direction_shares(directions[s], magnitudes[s]);
    const float share = k < kPerCell ? second_share(k) : 1.0f - second_share(k);
    histogram[to.first * kTaskPitch] += to.to_first * share;
    histogram[to.second * kTaskPitch] += to.to_second * share;
  }
}

// The bytes of kDescriptorLength values, by one warp: values 32 apart in a lane, four bytes that
// belong together out.
__device__ std::uint32_t bytes_of_values(const float* values, bool root, std::uint8_t* staged) {
  const int lane = threadIdx.x % kWarp;
  float value[kCells];
#pragma unroll
  for (int k = 0; k < kCells; ++k) value[k] = values[k * kWarp + lane];
  auto sum_of = [&](auto&& f) {
    return warp_sum(((f(value[0]) + f(value[1])) + f(value[2])) + f(value[3]));
  };
  auto square = [](float v) { return v * v; };
  const float most = kDescriptorCut * sqrtf(sum_of(square));
#pragma unroll
  for (float& v : value) v = fminf(v, most);
  const float size = root ? sum_of([](float v) { return v; }) : sqrtf(sum_of(square));
  const float scale = size > 0 ? (root ? 1.0f : 512.0f) / size : 0.0f;
#pragma unroll
  for (int k = 0; k < kCells; ++k) {
    const float v = value[k] * scale;
    staged[k * kWarp + lane] = descriptor_byte(root ? 512.0f * sqrtf(v) : v);
  }
  __syncwarp();
  return reinterpret_cast<const std::uint32_t*>(staged)[lane];
}

__global__ void __launch_bounds__(kThreads)
    descriptor_kernel(const __grid_constant__ DeviceSpace space, PointLists points,
                      FeatureLists features, bool root, FeatureTargets out) {
  __shared__ float pixels[kWindow * kWindowPitch];
  __shared__ float magnitudes[kSamples], directions[kSamples];
  __shared__ float histograms[kDirections * kTaskPitch];
  __shared__ float values[kDescriptorLength];
  __shared__ __align__(4) std::uint8_t bytes[kDescriptorLength];
  __shared__ float gaussian[kGrid];
  const int image = blockIdx.y;
  if (threadIdx.x < kGrid) gaussian[threadIdx.x] = sample_weight(threadIdx.x);
  const std::uint32_t end = features.end(image);
  for (std::uint32_t f = features.begin(image) + blockIdx.x; f < end; f += gridDim.x) {
    const OrientedPoint feature = features.of(image)[f];
    const SiftPoint point = points.of(image)[feature.point];
    const DeviceView<const float> level = space.level(point.octave, point.level, image);
    const DescriptorFrame frame = descriptor_frame(point.x, point.y, point.scale, feature.turn);
    Window window;
    const bool staged = stage(level, frame, pixels, window);  // the same in all threads
    __syncthreads();
    staged ? sample<true>(level, frame, window, gaussian, magnitudes, directions)
           : sample<false>(level, frame, window, gaussian, magnitudes, directions);
    __syncthreads();
    share_out(magnitudes, directions, histograms);
    __syncthreads();
    // A cell and direction a thread: the sum over the rows of samples around it.
    const int row = threadIdx.x / kWarp, cell = threadIdx.x % kWarp / kDirections;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 2 * kPerCell; ++k) {
      const int task = (row * kPerCell + k) * kCells + cell;
      const float share = k < kPerCell ? second_share(k) : 1.0f - second_share(k);
      sum += share * histograms[threadIdx.x % kDirections * kTaskPitch + task];
    }
    values[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= kWarp) continue;
    const std::size_t at = std::size_t(image) * features.capacity + f;
    const std::uint32_t four = bytes_of_values(values, root, bytes);
    const int lane = threadIdx.x;
    reinterpret_cast<std::uint32_t*>(out.descriptors + at * kDescriptorLength)[lane] = four;
    if (out.device_descriptors) {
      reinterpret_cast<std::uint32_t*>(out.device_descriptors + at * kDescriptorLength)[lane] =
          four;
    }
    if (lane == 0) {
      const DeviceOctave& o = space.octaves[point.octave];
      out.keypoints[at] = keypoint_of(point, o.step, o.origin, o.index, feature.turn);
    }
  }
}

}  // namespace

void enqueue_descriptors(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                         const FeatureLists& features, bool root, const FeatureTargets& out) {
  constexpr int kBlocks = 132 * 7;  // as many as an H200 runs at once
  descriptor_kernel<<<dim3(kBlocks, space.images), kThreads, 0, stream>>>(space, points, features,
                                                                          root, out);
  cuda_check_launch("SIFT: descriptors");
}

}  // namespace cornea::sift
