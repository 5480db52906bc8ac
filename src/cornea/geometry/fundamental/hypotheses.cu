#include "cornea/core/warp.h"
#include "cornea/geometry/fundamental/device_fundamental.h"
#include "cornea/geometry/fundamental/hypotheses.h"

namespace cornea::geometry {
namespace {

using namespace core;

constexpr int kThreads = 128;  // that 72 numbers of a system fit their registers
constexpr int kTile = 512;     // correspondences in shared memory, 8 KB

// The samples' points, from memory; a hypothesis a thread.
template <int size>
__device__ Sample<float, size> gather(const float4* points, const std::uint32_t* drawn, int count) {
  Sample<float, size> s;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const float4 p = __ldg(points + drawn[i]);
    s.x1[i] = p.x;
    s.y1[i] = p.y;
    s.x2[i] = p.z;
    s.y2[i] = p.w;
  }
  return s;
}

// The best of what a block's threads have.
__device__ void write_best(const DevicePairs& pairs, int pair, const RoundBest& mine) {
  __shared__ std::uint64_t keys[kThreads / kWarp];
  std::uint64_t key = warp_least(mine.key);
  if (threadIdx.x % kWarp == 0) keys[threadIdx.x / kWarp] = key;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < kThreads / kWarp; ++w) key = keys[w] < key ? keys[w] : key;
  RoundBest* out = pairs.block_bests + std::size_t(pair) * pairs.blocks + blockIdx.x;
  if (key == RoundBest().key) {
    if (threadIdx.x == 0) out->key = key;
  } else if (mine.key == key) {
    *out = mine;
  }
}

__device__ std::uint32_t cost_at(const Matrix3<float>& f, const float4& p, const CostScale& scale) {
  return cost_of(squared_distance(f, p.x, p.y, p.z, p.w, scale.r, scale.rr) * scale.inverse);
}

// Samples of 8. A block makes kThreads / each hypotheses, which are groups of the first look;
// `each` threads share a hypothesis' correspondences there, and 16 times as many those of a
// hypothesis that is kept.
template <int each>
__global__ void __launch_bounds__(kThreads)
    eights_kernel(DevicePairs pairs, FundamentalOptions options) {
  constexpr int kMade = kThreads / each, kGroups = kMade / kLookGroup, kHalf = kWarp / 2;
  static_assert(kLookGroup == kWarp && kLookKept == 2 && kGroups >= 1);
  __shared__ float4 tile[kFewestForALook];
  __shared__ Matrix3<float> made[kMade];
  __shared__ std::uint32_t costs[kMade], kept_costs[kGroups][kLookKept];
  const int pair = blockIdx.y;
  const Search& search = pairs.searches[pair];
  if (search.ended()) return;
  const int count = pairs.size(pair);
  const float4* points = pairs.normalised + pairs.first[pair];
  const CostScale scale = cost_scale(search.normalisation.scales, options.threshold);
  const int mine = threadIdx.x % kMade, share = threadIdx.x / kMade;
  const int in_round = blockIdx.x * kMade + mine;
  const std::uint32_t hypothesis = std::uint32_t(search.hypotheses) + in_round;

  const bool looks = looks_first(count);
  const int seen = looks ? kLookMatches : count;
  for (int i = threadIdx.x; i < seen; i += kThreads) {
    tile[i] = points[looks ? look_match(i, count) : i];
  }
  if (threadIdx.x < kGroups * kLookKept) kept_costs[0][threadIdx.x] = 0;
  if (share == 0) {
    float valid = 0;
    if (in_round < next_round(search, options)) {
      std::uint32_t drawn[8];
      draw_sample(options.seed, pairs.keys[pair], hypothesis, Stream::samples, count, 8, drawn);
      made[mine] = from_eight(gather<8>(points, drawn, 8), valid);
    }
    costs[mine] = valid > kBehind ? 0 : valid > 0 ? kRefused : kNoCost;
  }
  __syncthreads();
  const bool valid = is_cost(costs[mine]);
  Matrix3<float> f{};
  std::uint32_t cost = 0;
  if (valid) {
    f = made[mine];
    for (int i = share; i < seen; i += each) cost += cost_at(f, tile[i], scale);
  }
  __syncthreads();                           // all have seen what is valid
  if (valid) atomicAdd(&costs[mine], cost);  // whole numbers: in any order
  __syncthreads();
  cost = costs[mine];
  RoundBest best;
  if (share == 0 && cost != kNoCost && !(looks && valid)) best = {round_key(cost, hypothesis), f};

  if (looks) {
    // Every warp of a group finds the same two; each of its halves takes one.
    const int lane = threadIdx.x % kWarp, half = lane / kHalf, group = mine / kWarp;
    const std::uint64_t none = RoundBest().key;
    const std::uint64_t key = valid ? round_key(cost, mine) : none;
    const std::uint64_t first = warp_least(key), second = warp_least(key == first ? none : key);
    const std::uint64_t kept = half == 0 ? first : second;
    std::uint32_t sum = 0;
    if (kept != none) {
      f = made[hypothesis_of(kept)];
      for (int i = lane % kHalf + kHalf * share; i < count; i += kHalf * each) {
        sum += cost_at(f, __ldg(points + i), scale);
      }
    }
#pragma unroll
    for (int step = kHalf / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane % kHalf == 0) atomicAdd(&kept_costs[group][half], sum);
    __syncthreads();
    if (share == 0 && lane % kHalf == 0 && kept != none) {
      const std::uint64_t whole =
          round_key(kept_costs[group][half], hypothesis - mine + hypothesis_of(kept));
      if (whole < best.key) best = {whole, f};
    }
  }
  write_best(pairs, pair, best);
}

// Samples of other sizes, up to three models each. A block makes kThreads / each hypotheses and
// holds them against all correspondences; `each` threads share a hypothesis' correspondences.
template <int each>
__global__ void __launch_bounds__(kThreads)
    others_kernel(DevicePairs pairs, FundamentalOptions options) {
  constexpr int kMade = kThreads / each, kModels = 3;
  __shared__ float4 tile[kTile];
  __shared__ Matrix3<float> made[kModels][kMade];
  __shared__ std::uint32_t costs[kModels][kMade];
  const int pair = blockIdx.y;
  const Search& search = pairs.searches[pair];
  if (search.ended()) return;
  const int count = pairs.size(pair);
  const float4* points = pairs.normalised + pairs.first[pair];
  const CostScale scale = cost_scale(search.normalisation.scales, options.threshold);
  const int mine = threadIdx.x % kMade, share = threadIdx.x / kMade;
  const int in_round = blockIdx.x * kMade + mine;
  const std::uint32_t hypothesis = std::uint32_t(search.hypotheses) + in_round;

  if (share == 0) {
    Hypotheses h;
    if (in_round < next_round(search, options)) {
      std::uint32_t drawn[kLargestSample];
      draw_sample(options.seed, pairs.keys[pair], hypothesis, Stream::samples, count,
                  options.sample, drawn);
      const auto sample = gather<kLargestSample>(points, drawn, options.sample);
      h = options.sample == 7 ? from_seven(sample) : from_many(sample, options.sample);
    }
#pragma unroll
    for (int k = 0; k < kModels; ++k) {
      if (k < h.count) made[k][mine] = h.f[k];
      costs[k][mine] = k < h.count ? 0 : h.fixed ? kRefused : kNoCost;
    }
  }
  __syncthreads();
  Matrix3<float> f[kModels];
  std::uint32_t cost[kModels];
  bool valid[kModels];
#pragma unroll
  for (int k = 0; k < kModels; ++k) {
    valid[k] = is_cost(costs[k][mine]);
    if (valid[k]) f[k] = made[k][mine];
    cost[k] = 0;
  }
  for (int base = 0; base < count; base += kTile) {
    const int size = min(kTile, count - base);
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += kThreads) tile[i] = points[base + i];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kModels; ++k) {
      if (!valid[k]) continue;
      for (int i = share; i < size; i += each) cost[k] += cost_at(f[k], tile[i], scale);
    }
  }
#pragma unroll
  for (int k = 0; k < kModels; ++k) {
    if (valid[k]) atomicAdd(&costs[k][mine], cost[k]);  // whole numbers: in any order
  }
  __syncthreads();

  RoundBest best;
  if (share == 0) {
#pragma unroll
    for (int k = 0; k < kModels; ++k) {
      const std::uint64_t key = round_key(costs[k][mine], hypothesis);
      if (costs[k][mine] != kNoCost && key < best.key) {
        best.key = key;
        if (valid[k]) best.f = f[k];
      }
    }
  }
  write_best(pairs, pair, best);
}

}  // namespace

int threads_a_hypothesis(const FundamentalOptions& options, int pairs, int round,
                         int multiprocessors) {
  constexpr int kBlocksEach = 4;  // that fill a multiprocessor
  const double blocks = double(pairs) * divide_up(round, kThreads);
  const double room = double(multiprocessors) * kBlocksEach;
  return blocks >= room ? 1 : 4 * blocks >= room || options.sample == 8 ? 4 : 16;
}

int blocks_a_round(int round, int threads_each) {
  return divide_up(round, kThreads / threads_each);
}

void enqueue_hypotheses(cudaStream_t stream, const DevicePairs& pairs,
                        const FundamentalOptions& options, int threads_each) {
  const dim3 grid(pairs.blocks, pairs.count);
  const bool eight = options.sample == 8;
  switch (threads_each) {
    case 1:
      (eight ? eights_kernel<1> : others_kernel<1>)<<<grid, kThreads, 0, stream>>>(pairs, options);
      break;
    case 4:
      (eight ? eights_kernel<4> : others_kernel<4>)<<<grid, kThreads, 0, stream>>>(pairs, options);
      break;
    default:
      others_kernel<16><<<grid, kThreads, 0, stream>>>(pairs, options);
  }
  cuda_check_launch("fundamental: hypotheses");
}

}  // namespace cornea::geometry
