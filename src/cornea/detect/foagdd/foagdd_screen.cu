// The upper bound of the measure in cells of 2 x 2 pixels (foagdd_math.h says why it holds), for
// eight directions.
#include "cornea/core/cuda.h"
#include "cornea/detect/foagdd/device_foagdd.h"
#include "cornea/detect/foagdd/foagdd_device.h"
#include "cornea/detect/foagdd/foagdd_math.h"

namespace cornea {
namespace {

constexpr int kWarp = 32;
constexpr int n = 8;
constexpr int kCellsPerWarp = kWarp - 4;  // two lanes at each side only help their neighbours
constexpr int kWarpsPerBlock = 4;

// Products of two directions summed down a column over its 4, 6 and 8 rows.
struct ColumnSums {
  float four, six, eight;
};
__device__ ColumnSums column_sums(const float (&i)[8], const float (&j)[8]) {
  ColumnSums sums;
  sums.four = fmaf(i[5], j[5], fmaf(i[2], j[2], fmaf(i[4], j[4], i[3] * j[3])));
  sums.six = fmaf(i[6], j[6], fmaf(i[1], j[1], sums.four));
  sums.eight = fmaf(i[7], j[7], fmaf(i[0], j[0], sums.six));
  return sums;
}

// A lane a cell. A lane has the derivatives of its cell's two columns in 8 rows; the union of the
// four discs reaches three columns further on each side, which lie with the two lanes beside it.
__global__ void __launch_bounds__(kWarp* kWarpsPerBlock)
    cell_kernel(const float* derivatives, FoagddPlane plane, float threshold, int first_frame,
                DeviceView<double> first_map, std::uint32_t* cells, std::uint32_t* count) {
  const int lane = threadIdx.x, frame = blockIdx.z;
  const int column = int(blockIdx.x) * kCellsPerWarp + lane - 2;
  const int row = int(blockIdx.y) * kWarpsPerBlock + threadIdx.y;
  if (row >= plane.cells_down()) return;
  // Lanes beyond the image read its last columns; no cell that counts looks at them.
  const int x = min(max(2 * column, plane.left()), plane.right() - 2);
  const float* from = derivatives + frame * plane.frame_size(n) + plane.at(x, 2 * row - 3) * n;
  float d[2][n][8];  // column of the cell, direction, row
#pragma unroll
  for (int k = 0; k < 8; ++k) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const auto* at =
          reinterpret_cast<const float4*>(from + (std::size_t(k) * plane.stride() + c) * n);
      const float4 low = __ldg(at), high = __ldg(at + 1);
      d[c][0][k] = low.x, d[c][1][k] = low.y, d[c][2][k] = low.z, d[c][3][k] = low.w;
      d[c][4][k] = high.x, d[c][5][k] = high.y, d[c][6][k] = high.z, d[c][7][k] = high.w;
    }
  }
  float m[foagdd_tensor_size(n)];
#pragma unroll
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      const ColumnSums left = column_sums(d[0][i], d[0][j]), right = column_sums(d[1][i], d[1][j]);
      float sum = left.eight + right.eight;
      sum += __shfl_up_sync(~0u, left.six + right.eight, 1);
      sum += __shfl_down_sync(~0u, left.eight + right.six, 1);
      sum += __shfl_up_sync(~0u, right.four, 2);
      sum += __shfl_down_sync(~0u, left.four, 2);
      m[foagdd_tensor_index(i, j)] = sum;
    }
  }

  float trace = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) trace += m[foagdd_tensor_index(i, i)];
  trace = fmaxf(trace, 1e-30f);
  const float shift = trace * foagdd_screen_shift(n);
  float upper = 1 / trace;
#pragma unroll
  for (int k = 0; k < n; ++k) {
    const float pivot = fmaxf(k == 0 ? m[0] + shift : m[foagdd_tensor_index(k, k)], 1e-30f);
    upper *= pivot;
    const float inverse = __frcp_rn(pivot);
#pragma unroll
    for (int j = k + 1; j < n; ++j) {
      if (k == 0) m[foagdd_tensor_index(j, j)] += shift;
      const float l = m[foagdd_tensor_index(j, k)] * inverse;
#pragma unroll
      for (int i = j; i < n; ++i) {
        float& entry = m[foagdd_tensor_index(i, j)];
        entry = fmaf(-l, m[foagdd_tensor_index(i, k)], entry);
      }
    }
  }
  upper = fmaf(upper, kFoagddScreenSlack, upper) + 1e-30f;

  const bool mine = lane >= 2 && lane < kWarp - 2 && column < plane.cells_across();
  const bool open = mine && !(upper <= threshold);
  const std::uint32_t open_lanes = __ballot_sync(~0u, open);
  if (mine && !open) {
    double* map = first_map.data +
                  (std::size_t(first_frame + frame) * plane.height + 2 * row) * first_map.stride +
                  2 * column;
    const bool two_columns = 2 * column + 1 < plane.width, two_rows = 2 * row + 1 < plane.height;
    map[0] = 0;
    if (two_columns) map[1] = 0;
    if (two_rows) map[first_map.stride] = 0;
    if (two_columns && two_rows) map[first_map.stride + 1] = 0;
  }
  if (open_lanes == 0) return;
  // The order of the list does not matter: each open cell is worked on by itself.
  std::uint32_t place = 0;
  if (lane == 0) place = atomicAdd(count, __popc(open_lanes));
  place = __shfl_sync(~0u, place, 0) + __popc(open_lanes & ((1u << lane) - 1));
  if (open) {
    cells[place] =
        (std::uint32_t(frame) * plane.cells_down() + row) * plane.cells_across() + column;
  }
}

}  // namespace

FoagddOpenCells DeviceFoagdd::enqueue_screen(double threshold, int frame, int frames,
                                             DeviceView<double> first_map) {
  const cudaStream_t stream = cuda_stream(context_);
  auto* cells = open_.data<std::uint32_t>();
  auto* count = open_count_.data<std::uint32_t>();
  cuda_check(cudaMemsetAsync(count, 0, sizeof *count, stream), "clearing the count of open cells");
  const dim3 grid(divide_up(plane_.cells_across(), kCellsPerWarp),
                  divide_up(plane_.cells_down(), kWarpsPerBlock), frames);
  cell_kernel<<<grid, dim3(kWarp, kWarpsPerBlock), 0, stream>>>(derivatives_.data<float>(), plane_,
                                                                foagdd_screen_threshold(threshold),
                                                                frame, first_map, cells, count);
  cuda_check_launch("FOAGDD bounds");
  return {cells, count};
}

}  // namespace cornea
