// SPDX-License-Identifier: Apache-2.0
// RANSAC on CUDA: data and functions shared by the kernels.
//
// The correspondences of all pairs are in one contiguous list. Every round consists of two
// launches: one thread (or several) per sample, then one block per pair that ends the round. A pair
// that has ended costs only empty blocks.
#pragma once

#include <cstdint>

#include "cornea/core/cuda.h"
#include "cornea/core/warp.h"
#include "cornea/geometry/ransac/search.h"
#include "cornea/geometry/sampling.h"
#include "cornea/geometry/scoring/preemptive.h"
#include "cornea/geometry/solvers/models.h"

namespace cornea::geometry {

struct DevicePairs {
  int count;
  const float4* pixels;  // of all pairs
  float4* normalised;
  int* list;                   // room for one index per correspondence
  const std::uint32_t* first;  // index of each pair's first correspondence, and the total
  const std::uint64_t* keys;   // random keys of each pair's samples
  const Normalisation* given;  // of each pair; scales of 0: computed from its points
  Search* searches;
  RoundBest* block_bests;  // `blocks` per pair
  int blocks;              // per round

  __device__ int size(int pair) const { return int(first[pair + 1] - first[pair]); }
};

inline constexpr int kHypothesisThreads =
    128;  // few enough for the 72 numbers of a system to fit into registers

// Reads the points of a sample; one sample per thread.
template <int size>
__device__ Sample<float, size> gather_sample(const float4* points, const std::uint32_t* drawn,
                                             int count) {
  Sample<float, size> s;
#pragma unroll
  for (int i = 0; i < size; ++i) {
    if (i >= count) break;
    const float4 p = __ldg(points + drawn[i]);
    s.x1[i] = p.x;
    s.y1[i] = p.y;
    s.x2[i] = p.z;
    s.y2[i] = p.w;
  }
  return s;
}

// Writes the best of the block's hypotheses.
__device__ inline void write_best(const DevicePairs& pairs, int pair, const RoundBest& mine) {
  __shared__ std::uint64_t keys[kHypothesisThreads / core::kWarp];
  std::uint64_t key = core::warp_least(mine.key);
  if (threadIdx.x % core::kWarp == 0) keys[threadIdx.x / core::kWarp] = key;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < kHypothesisThreads / core::kWarp; ++w) key = keys[w] < key ? keys[w] : key;
  RoundBest* out = pairs.block_bests + std::size_t(pair) * pairs.blocks + blockIdx.x;
  if (key == RoundBest().key) {
    if (threadIdx.x == 0) out->key = key;
  } else if (mine.key == key) {
    *out = mine;
  }
}

template <class Metric, class Prepared>
__device__ std::uint32_t cost_at(const Prepared& m, const float4& p, const CostScale& scale) {
  return cost_of(Metric::share(m, p.x, p.y, p.z, p.w, scale));
}

// One sample per thread, for any problem. A warp is a group of preemptive scoring: each half of it
// scores one of the two remaining models on all correspondences.
template <class Problem>
__global__ void __launch_bounds__(kHypothesisThreads)
    models_kernel(DevicePairs pairs, Problem problem) {
  using Metric = typename Problem::Metric;
  constexpr int kModels = Problem::kModels, kWarp = core::kWarp, kHalf = kWarp / 2;
  static_assert(kLookGroup == kWarp && kLookKept == 2);
  __shared__ float4 tile[kTooFewForALook];
  __shared__ Matrix3<float> kept_models[kHypothesisThreads / kWarp][kLookKept];
  const int pair = blockIdx.y;
  const Search& search = pairs.searches[pair];
  if (search.ended()) return;
  const int count = pairs.size(pair);
  const float4* points = pairs.normalised + pairs.first[pair];
  const CostScale scale = cost_scale(search.normalisation.scales, problem.search.threshold);
  const int in_round = blockIdx.x * kHypothesisThreads + threadIdx.x;
  const bool looks = looks_first(count);
  const int seen = looks ? kLookMatches : count;
  for (int i = threadIdx.x; i < seen; i += kHypothesisThreads) {
    tile[i] = points[looks ? look_match(i, count) : i];
  }
  Models<kModels> made;
  if (in_round < next_round(search, problem.search)) {
    std::uint32_t drawn[Problem::kSample];
    draw_sample(problem.search.seed, pairs.keys[pair], std::uint32_t(search.hypotheses) + in_round,
                Stream::samples, count, problem.search.sample, drawn);
    made = problem.make(gather_sample<Problem::kSample>(points, drawn, problem.search.sample));
  }
  __syncthreads();
  const std::uint64_t none = RoundBest().key;
  RoundBest best;
  if (made.fixed) best.key = round_key(kRefused, in_round * kModels);
  std::uint64_t first = none, second = none;  // the two lowest keys of this thread's models
  for (int k = 0; k < made.count; ++k) {
    const auto model = Metric::prepared(made.m[k]);
    std::uint32_t cost = 0;
    for (int i = 0; i < seen; ++i) cost += cost_at<Metric>(model, tile[i], scale);
    const std::uint64_t key = round_key(cost, in_round * kModels + k);
    if (!looks) {
      if (key < best.key) best = {key, made.m[k]};
    } else if (key < first) {
      second = first;
      first = key;
    } else if (key < second) {
      second = key;
    }
  }
  if (looks) {
    const int lane = threadIdx.x % kWarp, half = lane / kHalf, group = threadIdx.x / kWarp;
    const std::uint64_t least = core::warp_least(first);
    const std::uint64_t mine_next = first == least ? second : first;
    const std::uint64_t next = core::warp_least(mine_next);
    if (first == least && least != none) kept_models[group][0] = made.m[number_of(least) % kModels];
    if (mine_next == next && next != none)
      kept_models[group][1] = made.m[number_of(next) % kModels];
    __syncwarp();
    const std::uint64_t kept = half == 0 ? least : next;
    std::uint32_t sum = 0;
    Matrix3<float> m{};
    if (kept != none) {
      m = kept_models[group][half];
      const auto model = Metric::prepared(m);
      for (int i = lane % kHalf; i < count; i += kHalf) {
        sum += cost_at<Metric>(model, __ldg(points + i), scale);
      }
    }
#pragma unroll
    for (int step = kHalf / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane % kHalf == 0 && kept != none) {
      const std::uint64_t whole = round_key(sum, number_of(kept));
      if (whole < best.key) best = {whole, m};
    }
  }
  write_best(pairs, pair, best);
}

}  // namespace cornea::geometry
