#include "cornea/describe/sift/device_sift.h"

namespace cornea {
namespace {

constexpr int kPointWarps = 8;          // of a block, a point each
constexpr int kPitch = kAngleBins + 1;  // of a histogram: lanes that add to one bin do not collide
static_assert(kAngleParts == kWarp);

// A warp a point: a lane gathers the gradients of every 32nd column in a histogram of its own.
__global__ void __launch_bounds__(kPointWarps* kWarp)
    angles_kernel(const __grid_constant__ DeviceSpace space, PointLists points, int most,
                  AngleLists angles) {
  __shared__ float histograms[kPointWarps][kAngleParts * kPitch];
  __shared__ float bins[kPointWarps][2][kAngleBins];
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, image = blockIdx.y;
  const std::uint32_t count = min(points.counts[image], points.capacity);
  float* const mine = histograms[warp] + lane * kPitch;
  float *const raw = bins[warp][0], *const smooth = bins[warp][1];
  for (std::uint32_t i = blockIdx.x * kPointWarps + warp; i < count; i += gridDim.x * kPointWarps) {
    const SiftPoint point = points.of(image)[i];
    const DeviceView<const float> level = space.level(point.octave, point.level, image);
    const AngleWindow window = angle_window(point);
    const int r = window.radius;
    for (int b = 0; b < kAngleBins; ++b) mine[b] = 0;
    const int top = max(window.y - r, 1), bottom = min(window.y + r, level.height - 2);
    const int right = min(window.x + r, level.width - 2);
    for (int base = top; base <= bottom; base += kWarp) {
      // What the next 32 rows need, a row a lane.
      const int my_row = base + lane - window.y;
      const float my_weight =
          axis_weight(window.exponent, static_cast<float>(base + lane) - point.y);
      const int my_half =
          static_cast<int>(sqrtf(static_cast<float>(max(r * r - my_row * my_row, 0))));
      const int rows = min(kWarp, bottom - base + 1);
      for (int j = 0; j < rows; ++j) {
        const float row_weight = __shfl_sync(~0u, my_weight, j);
        const int half = __shfl_sync(~0u, my_half, j);
        const float* row = level.row(base + j);
        for (int x = window.x - r + lane; x <= right; x += kWarp) {
          if (x < 1 || x < window.x - half || x > window.x + half) continue;
          const float gx = __ldg(row + x + 1) - __ldg(row + x - 1);
          const float gy = __ldg(row + level.stride + x) - __ldg(row - level.stride + x);
          const float weight = axis_weight(window.exponent, static_cast<float>(x) - point.x);
          mine[angle_bin(turn_of(gy, gx))] += sqrtf(gx * gx + gy * gy) * (weight * row_weight);
        }
      }
    }
    __syncwarp();
    for (int b = lane; b < kAngleBins; b += kWarp) {
      float sum = histograms[warp][b];
#pragma unroll 8
      for (int part = 1; part < kAngleParts; ++part) sum += histograms[warp][part * kPitch + b];
      raw[b] = sum;
    }
    __syncwarp();
    auto wrapped = [](int b) {
      return b < 0 ? b + kAngleBins : b >= kAngleBins ? b - kAngleBins : b;
    };
    float highest = 0;
    for (int b = lane; b < kAngleBins; b += kWarp) {
      smooth[b] = smooth_bin([&](int k) { return raw[wrapped(k)]; }, b);
      highest = fmaxf(highest, smooth[b]);
    }
    for (int step = kWarp / 2; step > 0; step /= 2) {
      highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, step));
    }
    __syncwarp();
    auto is_peak = [&](int b) {
      return is_angle_peak(smooth[wrapped(b - 1)], smooth[b], smooth[wrapped(b + 1)], highest);
    };
    const int second = lane + kWarp;
    const bool first_is = is_peak(lane);
    const bool second_is = second < kAngleBins && is_peak(min(second, kAngleBins - 1));
    const std::uint64_t peaks =
        std::uint64_t(__ballot_sync(~0u, second_is)) << kWarp | __ballot_sync(~0u, first_is);
    const std::size_t at = std::size_t(image) * points.capacity + i;
    auto place = [&](int b) {
      int rank = 0;  // peaks that are higher, or as high and before it
      for (std::uint64_t rest = peaks; rest; rest &= rest - 1) {
        const int other = __ffsll(rest) - 1;
        rank += smooth[other] > smooth[b] || (smooth[other] == smooth[b] && other < b);
      }
      if (rank >= most) return;
      angles.turns[at * kMostAngles + rank] =
          peak_turn(b, smooth[wrapped(b - 1)], smooth[b], smooth[wrapped(b + 1)]);
    };
    if (first_is) place(lane);
    if (second_is) place(second);
    if (lane == 0) angles.counts[at] = min(__popcll(peaks), most);
    __syncwarp();
  }
}

__global__ void upright_kernel(PointLists points, AngleLists angles) {
  const int image = blockIdx.y;
  const std::uint32_t count = min(points.counts[image], points.capacity);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    const std::size_t at = std::size_t(image) * points.capacity + i;
    angles.turns[at * kMostAngles] = 0;
    angles.counts[at] = 1;
  }
}

}  // namespace

void enqueue_angles(cudaStream_t stream, const DeviceSpace& space, const PointLists& points,
                    int most, const AngleLists& angles) {
  constexpr int kBlocks = 132 * 5;
  const dim3 grid(kBlocks, space.images);
  if (most == 0) {
    upright_kernel<<<grid, kPointWarps * kWarp, 0, stream>>>(points, angles);
  } else {
    angles_kernel<<<grid, kPointWarps * kWarp, 0, stream>>>(space, points, most, angles);
  }
  cuda_check_launch("SIFT: angles");
}

}  // namespace cornea
