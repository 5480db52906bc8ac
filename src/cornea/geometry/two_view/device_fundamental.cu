// SPDX-License-Identifier: Apache-2.0
// The search for F on CUDA.
#include "cornea/geometry/ransac/device_ransac.h"
#include "cornea/geometry/two_view/fundamental_problem.h"

namespace cornea::geometry {
namespace {

using core::kWarp, core::warp_least;

// Samples of 8. A block computes kHypothesisThreads / each hypotheses, in groups of preemptive
// scoring. `each` threads share the correspondences of a hypothesis in the first stage, and 16
// times as many those of a hypothesis that is kept.
template <int each>
__global__ void __launch_bounds__(kHypothesisThreads)
    eights_kernel(DevicePairs pairs, FundamentalProblem problem) {
  constexpr int kMade = kHypothesisThreads / each, kGroups = kMade / kLookGroup, kHalf = kWarp / 2;
  static_assert(kLookGroup == kWarp && kLookKept == 2 && kGroups >= 1);
  __shared__ float4 tile[kTooFewForALook];
  __shared__ Matrix3<float> made[kMade];
  __shared__ std::uint32_t costs[kMade], kept_costs[kGroups][kLookKept];
  const SearchOptions& options = problem.search;
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
  for (int i = threadIdx.x; i < seen; i += kHypothesisThreads) {
    tile[i] = points[looks ? look_match(i, count) : i];
  }
  if (threadIdx.x < kGroups * kLookKept) kept_costs[0][threadIdx.x] = 0;
  if (share == 0) {
    float valid = 0;
    if (in_round < next_round(search, options)) {
      std::uint32_t drawn[8];
      draw_sample(options.seed, pairs.keys[pair], hypothesis, Stream::samples, count, 8, drawn);
      made[mine] = from_eight(gather_sample<8>(points, drawn, 8), valid);
    }
    costs[mine] = valid > kBehind ? 0 : valid > 0 ? kRefused : kNoCost;
  }
  __syncthreads();
  const bool valid = is_cost(costs[mine]);
  Matrix3<float> f{};
  std::uint32_t cost = 0;
  if (valid) {
    f = made[mine];
    for (int i = share; i < seen; i += each) cost += cost_at<EpipolarMetric>(f, tile[i], scale);
  }
  __syncthreads();                           // all threads have read the validity
  if (valid) atomicAdd(&costs[mine], cost);  // integers, so the order does not matter
  __syncthreads();
  cost = costs[mine];
  RoundBest best;
  if (share == 0 && cost != kNoCost && !(looks && valid)) best = {round_key(cost, hypothesis), f};

  if (looks) {
    // Every warp of a group finds the same two models; each half of a warp scores one of them.
    const int lane = threadIdx.x % kWarp, half = lane / kHalf, group = mine / kWarp;
    const std::uint64_t none = RoundBest().key;
    const std::uint64_t key = valid ? round_key(cost, mine) : none;
    const std::uint64_t first = warp_least(key), second = warp_least(key == first ? none : key);
    const std::uint64_t kept = half == 0 ? first : second;
    std::uint32_t sum = 0;
    if (kept != none) {
      f = made[number_of(kept)];
      for (int i = lane % kHalf + kHalf * share; i < count; i += kHalf * each) {
        sum += cost_at<EpipolarMetric>(f, __ldg(points + i), scale);
      }
    }
#pragma unroll
    for (int step = kHalf / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane % kHalf == 0) atomicAdd(&kept_costs[group][half], sum);
    __syncthreads();
    if (share == 0 && lane % kHalf == 0 && kept != none) {
      const std::uint64_t whole =
          round_key(kept_costs[group][half], hypothesis - mine + number_of(kept));
      if (whole < best.key) best = {whole, f};
    }
  }
  write_best(pairs, pair, best);
}

}  // namespace

// Threads that share the scoring of a sample of 8: enough for a few pairs to fill the device, but
// at most 4, because preemptive scoring is short.
template <>
struct HypothesisLaunch<FundamentalProblem> {
  static int threads_each(const FundamentalProblem& problem, int pairs, int round,
                          int multiprocessors) {
    constexpr int kBlocksEach = 4;  // blocks that fill a multiprocessor
    const double blocks = double(pairs) * core::divide_up(round, kHypothesisThreads);
    const double room = double(multiprocessors) * kBlocksEach;
    return problem.search.sample != 8 || blocks >= room ? 1 : 4;
  }
  static void enqueue(cudaStream_t stream, const DevicePairs& pairs,
                      const FundamentalProblem& problem, int threads_each) {
    const dim3 grid(pairs.blocks, pairs.count);
    if (problem.search.sample != 8) {
      models_kernel<FundamentalProblem><<<grid, kHypothesisThreads, 0, stream>>>(pairs, problem);
    } else {
      (threads_each == 1
           ? eights_kernel<1>
           : eights_kernel<4>)<<<grid, kHypothesisThreads, 0, stream>>>(pairs, problem);
    }
  }
};

template std::unique_ptr<Ransac<FundamentalProblem>> make_device_ransac(const Context&,
                                                                        const FundamentalProblem&);

}  // namespace cornea::geometry
