#include "cornea/describe/sift/device_sift.h"

namespace cornea {
namespace {

constexpr int kFeatureWarps = 4;  // of a block, a feature each
constexpr int kSamples = kGrid * kGrid;
constexpr int kPatch = 4;  // samples side by side that a warp takes at a time
static_assert(kGrid % kPatch == 0);
// A row of samples gives each cell across it a histogram: kGrid * kCells of them, of which a warp
// makes 32 at a time. Two lanes that read or add to neighbouring directions do not collide.
constexpr int kRounds = (kGrid * kCells + kWarp - 1) / kWarp;
constexpr int kPitch = kWarp + kDirections / 2;
static_assert(kDescriptorLength == 4 * kWarp && kDirections == 8 && kCells == 4);

struct FeatureMemory {
  float magnitude[kSamples], direction[kSamples];
  float histogram[kRounds][kDirections * kPitch];
};

// The gradients at the samples of a point, a sample a lane. A warp takes 4 x 8 of them at a time,
// which lie closer together, and in fewer lines of memory, than a row would.
__device__ void sample(DeviceView<const float> level, const DescriptorFrame& frame,
                       const float* gaussian, FeatureMemory& memory, int lane) {
  for (int s = lane; s < kSamples; s += kWarp) {
    const int i = s / (kGrid * kPatch) * kPatch + s % kPatch, j = s / kPatch % kGrid;
    const float row_x = frame.x - static_cast<float>(j) * frame.ay;
    const float row_y = frame.y + static_cast<float>(j) * frame.ax;
    float x = row_x + static_cast<float>(i) * frame.ax;
    float y = row_y + static_cast<float>(i) * frame.ay;
    float weight = gaussian[i] * gaussian[j];
    const bool inside = x >= 1 && y >= 1 && x < static_cast<float>(level.width - 2) &&
                        y < static_cast<float>(level.height - 2);
    if (!inside) x = y = 1, weight = 0;
    const int column = static_cast<int>(x), row = static_cast<int>(y);
    const float fx = x - static_cast<float>(column), fy = y - static_cast<float>(row);
    const float* r1 = level.row(row) + column - 1;
    const float *r0 = r1 - level.stride, *r2 = r1 + level.stride, *r3 = r2 + level.stride;
    const float a0 = __ldg(r1), a1 = __ldg(r1 + 1), a2 = __ldg(r1 + 2), a3 = __ldg(r1 + 3);
    const float b0 = __ldg(r2), b1 = __ldg(r2 + 1), b2 = __ldg(r2 + 2), b3 = __ldg(r2 + 3);
    const float up1 = __ldg(r0 + 1), up2 = __ldg(r0 + 2);
    const float down1 = __ldg(r3 + 1), down2 = __ldg(r3 + 2);
    const float across0 = mix(a0, b0, fy), across1 = mix(a1, b1, fy);
    const float across2 = mix(a2, b2, fy), across3 = mix(a3, b3, fy);
    const float gx = mix(across2 - across0, across3 - across1, fx);
    const float gy = mix(mix(b1 - up1, down1 - a1, fy), mix(b2 - up2, down2 - a2, fy), fx);
    const float along = frame.rotation.cosine * gx + frame.rotation.sine * gy;
    const float aside = frame.rotation.cosine * gy - frame.rotation.sine * gx;
    memory.direction[j * kGrid + i] = turn_of(aside, along) * float(kDirections);
    memory.magnitude[j * kGrid + i] = sqrtf(gx * gx + gy * gy) * weight;
  }
}

// Shares a row's samples out between cells and directions: a row of a cell a lane.
__device__ void share_out(FeatureMemory& memory, int lane) {
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int task = round * kWarp + lane, row = task / kCells, cell = task % kCells;
    float* histogram = memory.histogram[round] + lane;
    for (int d = 0; d < kDirections; ++d) histogram[d * kPitch] = 0;
    if (row >= kGrid) continue;
#pragma unroll
    for (int k = 0; k < 2 * kPerCell; ++k) {
      const int s = row * kGrid + cell * kPerCell + k;
      const float position = memory.direction[s], m = memory.magnitude[s];
      const int direction = static_cast<int>(position);
      const float turned = position - static_cast<float>(direction);
      const float to_second = m * turned, to_first = m - to_second;
      const float share = k < kPerCell ? second_share(k) : 1.0f - second_share(k);
      histogram[direction % kDirections * kPitch] += to_first * share;
      histogram[(direction + 1) % kDirections * kPitch] += to_second * share;
    }
  }
}

// A warp a feature.
__global__ void __launch_bounds__(kFeatureWarps* kWarp)
    descriptor_kernel(const __grid_constant__ DeviceSpace space, PointLists points,
                      FeatureLists features, bool root, FeatureTargets out) {
  __shared__ FeatureMemory memories[kFeatureWarps];
  __shared__ float gaussian[kGrid];
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, image = blockIdx.y;
  if (threadIdx.x < kGrid) gaussian[threadIdx.x] = sample_weight(threadIdx.x);
  __syncthreads();
  FeatureMemory& memory = memories[warp];
  const std::uint32_t count = min(features.counts[image], features.capacity);
  for (std::uint32_t f = blockIdx.x * kFeatureWarps + warp; f < count;
       f += gridDim.x * kFeatureWarps) {
    const OrientedPoint feature = features.of(image)[f];
    const SiftPoint point = points.of(image)[feature.point];
    const DeviceOctave& o = space.octaves[point.octave];
    const std::size_t at = std::size_t(image) * features.capacity + f;
    sample(space.level(point.octave, point.level, image),
           descriptor_frame(point.x, point.y, point.scale, feature.turn), gaussian, memory, lane);
    __syncwarp();
    share_out(memory, lane);
    __syncwarp();
    // Rows of cells: a cell and direction a lane.
    float value[kCells];
    const int cell = lane / kDirections, direction = lane % kDirections;
#pragma unroll
    for (int row = 0; row < kCells; ++row) {
      float sum = 0;
#pragma unroll
      for (int k = 0; k < 2 * kPerCell; ++k) {
        const int task = (row * kPerCell + k) * kCells + cell;
        const float share = k < kPerCell ? second_share(k) : 1.0f - second_share(k);
        sum += share * memory.histogram[task / kWarp][direction * kPitch + task % kWarp];
      }
      value[row] = sum;
    }
    __syncwarp();
    auto sum_of = [&](auto&& f) {
      return warp_sum(((f(value[0]) + f(value[1])) + f(value[2])) + f(value[3]));
    };
    auto square = [](float v) { return v * v; };
    const float most = kDescriptorCut * sqrtf(sum_of(square));
#pragma unroll
    for (float& v : value) v = fminf(v, most);
    const float size = root ? sum_of([](float v) { return v; }) : sqrtf(sum_of(square));
    const float scale = size > 0 ? (root ? 1.0f : 512.0f) / size : 0.0f;
    std::uint8_t bytes[kCells];
#pragma unroll
    for (int row = 0; row < kCells; ++row) {
      const float v = value[row] * scale;
      bytes[row] = descriptor_byte(root ? 512.0f * sqrtf(v) : v);
    }
    // Four bytes a lane, in the descriptor's order.
    auto* staged = reinterpret_cast<std::uint8_t*>(memory.magnitude);
#pragma unroll
    for (int row = 0; row < kCells; ++row) staged[row * kWarp + lane] = bytes[row];
    __syncwarp();
    const std::uint32_t four = reinterpret_cast<const std::uint32_t*>(staged)[lane];
    reinterpret_cast<std::uint32_t*>(out.descriptors + at * kDescriptorLength)[lane] = four;
    reinterpret_cast<std::uint32_t*>(out.host_descriptors + at * kDescriptorLength)[lane] = four;
    if (lane == 0) {
      const Keypoint keypoint = keypoint_of(point, o.step, o.origin, o.index, feature.turn);
      out.keypoints[at] = keypoint;
      out.host_keypoints[at] = keypoint;
    }
    __syncwarp();
  }
}

}  // namespace

void enqueue_descriptors(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                         const FeatureLists& features, bool root, const FeatureTargets& out) {
  constexpr int kBlocks = 132 * 8;
  descriptor_kernel<<<dim3(kBlocks, space.images), kFeatureWarps * kWarp, 0, stream>>>(
      space, points, features, root, out);
  cuda_check_launch("SIFT: descriptors");
}

}  // namespace cornea
