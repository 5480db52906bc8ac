#include "cornea/core/warp.h"
#include "cornea/geometry/fundamental/device_fundamental.h"
#include "cornea/geometry/fundamental/hypotheses.h"

namespace cornea {
namespace {

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

struct Made {
  int count;   // of models
  bool fixed;  // see Hypotheses
};

// Writes the models of a hypothesis to shared memory, `stride` apart.
template <int models>
__device__ Made make(const FundamentalOptions& options, std::uint64_t key, std::uint32_t hypothesis,
                     const float4* points, int count, Matrix3<float>* out, int stride) {
  if constexpr (models == 1) {  // of 8 correspondences
    std::uint32_t drawn[8];
    draw_sample(options.seed, key, hypothesis, Stream::samples, count, 8, drawn);
    float valid;
    const Matrix3<float> f = from_eight(gather<8>(points, drawn, 8), valid);
    *out = f;
    return {valid > kBehind, valid > 0};
  } else {
    std::uint32_t drawn[kLargestSample];
    draw_sample(options.seed, key, hypothesis, Stream::samples, count, options.sample, drawn);
    const auto sample = gather<kLargestSample>(points, drawn, options.sample);
    const Hypotheses made =
        options.sample == 7 ? from_seven(sample) : from_many(sample, options.sample);
    for (int k = 0; k < made.count; ++k) out[k * stride] = made.f[k];
    return {made.count, made.fixed};
  }
}

// A block makes kThreads / each hypotheses and holds them against all correspondences; `each`
// threads share a hypothesis' correspondences.
template <int models, int each>
__global__ void __launch_bounds__(kThreads)
    hypotheses_kernel(DevicePairs pairs, FundamentalOptions options) {
  constexpr int kMade = kThreads / each;
  __shared__ float4 tile[kTile];
  __shared__ Matrix3<float> made[models][kMade];
  __shared__ std::uint32_t costs[models][kMade];
  __shared__ std::uint64_t keys[kThreads / kWarp];
  const int pair = blockIdx.y;
  const Search& search = pairs.searches[pair];
  if (search.ended()) return;
  const int count = pairs.size(pair);
  const float4* points = pairs.normalised + pairs.first[pair];
  const CostScale scale = cost_scale(search.normalisation.scales, options.threshold);
  const int in_round = blockIdx.x * kMade + threadIdx.x % kMade, share = threadIdx.x / kMade;
  const std::uint32_t hypothesis = std::uint32_t(search.hypotheses) + in_round;
  const int mine = threadIdx.x % kMade;

  if (share == 0) {
    Made valid{0, false};
    if (in_round < next_round(search, options)) {
      valid =
          make<models>(options, pairs.keys[pair], hypothesis, points, count, &made[0][mine], kMade);
    }
#pragma unroll
    for (int k = 0; k < models; ++k) {
      costs[k][mine] = k < valid.count ? 0 : valid.fixed ? kRefused : kNoCost;
    }
  }
  __syncthreads();
  Matrix3<float> f[models];
  std::uint32_t cost[models];
  bool valid[models];
#pragma unroll
  for (int k = 0; k < models; ++k) {
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
    for (int k = 0; k < models; ++k) {
      if (!valid[k]) continue;
      for (int i = share; i < size; i += each) {
        const float4 p = tile[i];
        cost[k] +=
            cost_of(squared_distance(f[k], p.x, p.y, p.z, p.w, scale.r, scale.rr) * scale.inverse);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < models; ++k) {
    if (valid[k]) atomicAdd(&costs[k][mine], cost[k]);  // whole numbers: in any order
  }
  __syncthreads();

  RoundBest best;
  if (share == 0) {
#pragma unroll
    for (int k = 0; k < models; ++k) {
      const std::uint64_t key = round_key(costs[k][mine], hypothesis);
      if (costs[k][mine] != kNoCost && key < best.key) {
        best.key = key;
        if (valid[k]) best.f = f[k];
      }
    }
  }
  std::uint64_t key = best.key;
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const std::uint64_t other = __shfl_xor_sync(~0u, key, step);
    key = other < key ? other : key;
  }
  if (threadIdx.x % kWarp == 0) keys[threadIdx.x / kWarp] = key;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < kThreads / kWarp; ++w) key = keys[w] < key ? keys[w] : key;
  RoundBest* out = pairs.block_bests + std::size_t(pair) * pairs.blocks + blockIdx.x;
  if (key == RoundBest().key) {
    if (threadIdx.x == 0) out->key = key;
  } else if (best.key == key) {
    *out = best;
  }
}

template <int models>
void launch(cudaStream_t stream, const DevicePairs& pairs, const FundamentalOptions& options,
            int threads_each) {
  const dim3 grid(pairs.blocks, pairs.count);
  switch (threads_each) {
    case 1:
      hypotheses_kernel<models, 1><<<grid, kThreads, 0, stream>>>(pairs, options);
      break;
    case 4:
      hypotheses_kernel<models, 4><<<grid, kThreads, 0, stream>>>(pairs, options);
      break;
    default:
      hypotheses_kernel<models, 16><<<grid, kThreads, 0, stream>>>(pairs, options);
  }
  cuda_check_launch("fundamental: hypotheses");
}

}  // namespace

int threads_a_hypothesis(int pairs, int round, int multiprocessors) {
  constexpr int kBlocksEach = 4;  // that fill a multiprocessor
  const double blocks = double(pairs) * divide_up(round, kThreads);
  const double room = double(multiprocessors) * kBlocksEach;
  return blocks >= room ? 1 : 4 * blocks >= room ? 4 : 16;
}

int blocks_a_round(int round, int threads_each) {
  return divide_up(round, kThreads / threads_each);
}

void enqueue_hypotheses(cudaStream_t stream, const DevicePairs& pairs,
                        const FundamentalOptions& options, int threads_each) {
  if (options.sample == 8) {
    launch<1>(stream, pairs, options, threads_each);
  } else {
    launch<3>(stream, pairs, options, threads_each);
  }
}

}  // namespace cornea
