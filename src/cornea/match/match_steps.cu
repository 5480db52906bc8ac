// SPDX-License-Identifier: Apache-2.0
// The small steps around the search: norms before it, tests and the list of matches after it.
#include "cornea/core/compaction.h"
#include "cornea/core/cuda.h"
#include "cornea/core/warp.h"
#include "cornea/match/device_match.h"

namespace cornea::match {
namespace {

using namespace core;

constexpr int kGroupRows = kBlockRows;  // rows per block, one per thread
constexpr int kGroupWarps = kGroupRows / kWarp;

// One chunk of 256 descriptors per block, 8 threads per descriptor, 16 bytes per thread.
constexpr int kNormThreads = 256, kThreadsPerNorm = Features::kLength / 16;
constexpr int kNormsAtOnce = kNormThreads / kThreadsPerNorm;

__global__ void bases_kernel(const DeviceSet* sets, int set_count) {
  const DeviceSet& set =
      item_of(sets, set_count, blockIdx.x, [](const DeviceSet& s) { return s.first_chunk; });
  const int first = int(blockIdx.x - set.first_chunk) * kChunkColumns;
  const int part = threadIdx.x % kThreadsPerNorm;
#pragma unroll
  for (int k = 0; k < kChunkColumns / kNormsAtOnce; ++k) {
    const int i = first + k * kNormsAtOnce + int(threadIdx.x) / kThreadsPerNorm;
    uint4 bytes{0, 0, 0, 0};
    if (i < set.count) {
      bytes = reinterpret_cast<const uint4*>(set.data)[std::size_t(i) * kThreadsPerNorm + part];
    }
    std::uint32_t sum = __dp4a(bytes.x, bytes.x, 0u);
    sum = __dp4a(bytes.y, bytes.y, sum);
    sum = __dp4a(bytes.z, bytes.z, sum);
    sum = __dp4a(bytes.w, bytes.w, sum);
#pragma unroll
    for (int step = 1; step < kThreadsPerNorm; step *= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (part == 0) set.base[i] = i < set.count ? key_base(std::int32_t(sum), i) : kNoKey;
  }
}

struct Group {
  const DevicePair& pair;
  std::uint32_t index;  // within the pair
  int row;              // of this thread
};
__device__ Group group_of(DeviceTable table) {
  const DevicePair& pair = item_of(table.pairs, table.pair_count, blockIdx.x,
                                   [](const DevicePair& p) { return p.first_group; });
  const std::uint32_t index = blockIdx.x - pair.first_group;
  return {pair, index, int(index) * kGroupRows + int(threadIdx.x)};
}

// The two nearest neighbours of a row over all walks, with |a|^2 added.
__device__ Nearest joined_row(const DevicePair& pair, int row) {
  Nearest n = pair.rows[row];
  for (std::uint32_t split = 1; split < pair.splits; ++split) {
    const Nearest other = pair.rows[std::size_t(split) * pair.a_count + row];
    enter_neighbour(n, other.d2, other.index);
    if (other.second >= 0) enter_neighbour(n, other.second_d2, other.second);
  }
  const std::int32_t norm = key_value(pair.a_base[row]);
  n.d2 += norm;
  if (n.second >= 0) n.second_d2 += norm;
  return n;
}

__global__ void tests_kernel(DeviceTable table, MatchTests tests, std::uint32_t* marks,
                             std::uint32_t* group_counts) {
  const Group group = group_of(table);
  const DevicePair& pair = group.pair;
  bool kept = false;
  if (group.row < pair.a_count) {
    const Nearest n = joined_row(pair, group.row);
    pair.rows[group.row] = n;
    const std::int32_t back = tests.mutual ? column_index(pair.columns[n.index]) : -1;
    kept = is_match(n, group.row, back, tests);
  }
  const std::uint32_t bits = __ballot_sync(~0u, kept);
  if (threadIdx.x % kWarp == 0) {
    marks[std::size_t(blockIdx.x) * kGroupWarps + threadIdx.x / kWarp] = bits;
  }
  const int count = __syncthreads_count(kept);
  if (threadIdx.x == 0) group_counts[blockIdx.x] = count;
}

__global__ void gather_kernel(DeviceTable table, const std::uint32_t* marks,
                              const std::uint32_t* group_counts, std::uint32_t* pair_counts) {
  __shared__ std::uint32_t sums[kGroupWarps];
  const Group group = group_of(table);
  const DevicePair& pair = group.pair;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  // The number of matches in the pair's groups before this one; each warp sums a part of them.
  const std::uint32_t* counts = group_counts + pair.first_group;
  const std::uint32_t share = divide_up(group.index, std::uint32_t(kGroupWarps));
  const std::uint32_t before =
      warp_sum_of(counts, min(warp * share, group.index), min((warp + 1) * share, group.index));
  if (lane == 0) sums[warp] = before;
  __syncthreads();
  std::uint32_t place = 0;
#pragma unroll
  for (int w = 0; w < kGroupWarps; ++w) place += sums[w];
  const bool last = (group.index + 1) * std::uint32_t(kGroupRows) >= std::uint32_t(pair.a_count);
  if (last && threadIdx.x == 0) pair_counts[&pair - table.pairs] = place + group_counts[blockIdx.x];
  const std::uint32_t* words = marks + std::size_t(blockIdx.x) * kGroupWarps;
  for (int w = 0; w < warp; ++w) place += __popc(words[w]);
  const std::uint32_t bits = words[warp];
  if (bits >> lane & 1) {
    place += __popc(bits & ((1u << lane) - 1));
    pair.matches[place] = match_of(pair.rows[group.row], group.row);
  }
}

}  // namespace

void enqueue_bases(cudaStream_t stream, const DeviceSet* sets, int set_count,
                   std::uint32_t chunks) {
  bases_kernel<<<chunks, kNormThreads, 0, stream>>>(sets, set_count);
  cuda_check_launch("norms of descriptors");
}

void enqueue_tests(cudaStream_t stream, DeviceTable table, std::uint32_t groups, MatchTests tests,
                   std::uint32_t* marks, std::uint32_t* group_counts) {
  tests_kernel<<<groups, kGroupRows, 0, stream>>>(table, tests, marks, group_counts);
  cuda_check_launch("tests of matches");
}

void enqueue_gather(cudaStream_t stream, DeviceTable table, std::uint32_t groups,
                    const std::uint32_t* marks, const std::uint32_t* group_counts,
                    std::uint32_t* pair_counts) {
  gather_kernel<<<groups, kGroupRows, 0, stream>>>(table, marks, group_counts, pair_counts);
  cuda_check_launch("the list of matches");
}

}  // namespace cornea::match
