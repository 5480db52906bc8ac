// SPDX-License-Identifier: Apache-2.0
// For .cu files: the points of one pair and a block of kSumLanes threads that computes sums over
// them (see points.h). All threads call the functions that contain barriers (sums, histogram,
// score, list, best_of), with equal arguments, and get equal results.
#pragma once

#include "cornea/core/cuda.h"
#include "cornea/core/warp.h"
#include "cornea/geometry/algebra/symmetric.h"
#include "cornea/geometry/ransac/search.h"

namespace cornea::geometry {

inline constexpr int kTeamWarps = kSumLanes / core::kWarp;

// Shared memory of a team.
struct TeamMemory {
  static constexpr int kMostSums = packed_size(9);
  double lanes[kMostSums][kSumLanes];
  double sums[kMostSums];
  std::uint64_t keys[kTeamWarps];
  Matrix3<float> model;
  std::uint32_t counts[kTeamWarps][2];
  std::uint32_t bins[kHistogramBins];
};

template <class Metric>
class BlockTeam {
 public:
  __device__ BlockTeam(TeamMemory& memory, const float4* pixels, const float4* normalised,
                       int* list, int count, const Normalisation& normalisation,
                       const CostScale& scale)
      : memory_(memory),
        pixels_(pixels),
        normalised_(normalised),
        list_(list),
        count_(count),
        normalisation_(normalisation),
        scale_(scale) {}

  __device__ int count() const { return count_; }
  __device__ PointPair point(int i) const {
    const float4 p = pixels_[i];
    return normalisation_(p.x, p.y, p.z, p.w);
  }
  __device__ FloatPoint float_point(int i) const {
    const float4 p = normalised_[i];
    return {p.x, p.y, p.z, p.w};
  }
  __device__ int listed(int k) const { return list_[k]; }

  template <int K, class F>
  __device__ void sums(double (&out)[K], const F& f) {
    static_assert(K <= TeamMemory::kMostSums);
    double sum[K];
#pragma unroll
    for (int k = 0; k < K; ++k) sum[k] = 0;
    for (int i = threadIdx.x; i < count_; i += kSumLanes) {
      double terms[K];
      if (f(point(i), terms)) {
#pragma unroll
        for (int k = 0; k < K; ++k) sum[k] += terms[k];
      }
    }
    __syncthreads();  // the sums of the previous call have been read
#pragma unroll
    for (int k = 0; k < K; ++k) memory_.lanes[k][threadIdx.x] = sum[k];
    __syncthreads();
    // Pairwise: lanes 64 apart, then 32, 16, ...
    const int lane = threadIdx.x % core::kWarp;
    for (int k = threadIdx.x / core::kWarp; k < K; k += kTeamWarps) {
      const double* lanes = memory_.lanes[k];
      double v = (lanes[lane] + lanes[lane + 64]) + (lanes[lane + 32] + lanes[lane + 96]);
#pragma unroll
      for (int step = core::kWarp / 2; step > 0; step /= 2) v += __shfl_down_sync(~0u, v, step);
      if (lane == 0) memory_.sums[k] = v;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < K; ++k) out[k] = memory_.sums[k];
  }

  template <class F>
  __device__ void histogram(std::uint32_t (&out)[kHistogramBins], const F& f) {
    __syncthreads();  // the bins of the previous call have been read
    for (int i = threadIdx.x; i < kHistogramBins; i += kSumLanes) memory_.bins[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < count_; i += kSumLanes) {
      const int bin = f(point(i));
      if (bin >= 0) atomicAdd(&memory_.bins[bin], 1u);  // integers, so the order does not matter
    }
    __syncthreads();
    for (int i = 0; i < kHistogramBins; ++i) out[i] = memory_.bins[i];
  }

  __device__ Score score(const Matrix3<float>& m) { return score(m, scale_); }
  __device__ Score score(const Matrix3<float>& m, const CostScale& scale) {
    std::uint32_t cost = 0, inliers = 0;
    const auto prepared = Metric::prepared(m);
    for (int i = threadIdx.x; i < count_; i += kSumLanes) {
      add_cost(prepared, scale, i, cost, inliers);
    }
    cost = core::warp_sum(cost);
    inliers = core::warp_sum(inliers);
    __syncthreads();
    if (threadIdx.x % core::kWarp == 0) {
      memory_.counts[threadIdx.x / core::kWarp][0] = cost;
      memory_.counts[threadIdx.x / core::kWarp][1] = inliers;
    }
    __syncthreads();
    Score score{0, 0};
#pragma unroll
    for (int w = 0; w < kTeamWarps; ++w) {
      score.cost += memory_.counts[w][0];
      score.inliers += memory_.counts[w][1];
    }
    return score;
  }
  // Called by one thread, for its own model.
  __device__ std::uint32_t cost_alone(const Matrix3<float>& m, const CostScale& scale) const {
    std::uint32_t cost = 0, inliers = 0;
    const auto prepared = Metric::prepared(m);
    for (int i = 0; i < count_; ++i) add_cost(prepared, scale, i, cost, inliers);
    return cost;
  }

  template <class F>
  __device__ int list(const F& f) {
    const int lane = threadIdx.x % core::kWarp, warp = threadIdx.x / core::kWarp;
    int total = 0;
    for (int base = 0; base < count_; base += kSumLanes) {
      const int i = base + threadIdx.x;
      const bool in = i < count_ && f(point(i));
      const std::uint32_t bits = __ballot_sync(~0u, in);
      __syncthreads();
      if (lane == 0) memory_.counts[warp][0] = __popc(bits);
      __syncthreads();
      int place = total + __popc(bits & ((1u << lane) - 1));
      for (int w = 0; w < kTeamWarps; ++w) {
        if (w < warp) place += memory_.counts[w][0];
        total += memory_.counts[w][0];
      }
      if (in) list_[place] = i;
    }
    __syncthreads();
    return total;
  }

  template <class F>
  __device__ RoundBest best_of(int count, const F& f) {
    RoundBest best;
    for (int h = threadIdx.x; h < count; h += kSumLanes) {
      Matrix3<float> model{};
      const std::uint64_t key = round_key(f(h, model), h);
      if (key < best.key) best = {key, model};
    }
    return best_of_block(best);
  }

  // Returns the best of all threads' models to all threads.
  __device__ RoundBest best_of_block(const RoundBest& mine) {
    std::uint64_t key = core::warp_least(mine.key);
    __syncthreads();
    if (threadIdx.x % core::kWarp == 0) memory_.keys[threadIdx.x / core::kWarp] = key;
    __syncthreads();
#pragma unroll
    for (int w = 0; w < kTeamWarps; ++w) key = memory_.keys[w] < key ? memory_.keys[w] : key;
    // Keys are unique, because they contain the hypothesis number; if no thread has a model, the
    // value is not used.
    if (mine.key == key && key != RoundBest().key) memory_.model = mine.f;
    __syncthreads();
    return {key, memory_.model};
  }

 private:
  template <class Prepared>
  __device__ void add_cost(const Prepared& m, const CostScale& scale, int i, std::uint32_t& cost,
                           std::uint32_t& inliers) const {
    const float4 p = normalised_[i];
    const float share = Metric::share(m, p.x, p.y, p.z, p.w, scale);
    cost += cost_of(share);
    inliers += share < 1.0f;
  }

  TeamMemory& memory_;
  const float4 *pixels_, *normalised_;
  int* list_;
  int count_;
  Normalisation normalisation_;
  CostScale scale_;
};

}  // namespace cornea::geometry
