// F on CUDA: what the kernels' files share.
//
// Pairs lie one after the other in one list of correspondences. Every round is two launches: one
// thread (or several) a hypothesis, then one block a pair that ends the round. Pairs that have
// ended cost a launch's block and no more.
#pragma once

#include <cstdint>

#include "cornea/core/cuda.h"
#include "cornea/geometry/fundamental/plane_steps.h"

namespace cornea::geometry {

struct DevicePairs {
  int count;
  const float4* pixels;  // of all pairs
  float4* normalised;
  int* list;                   // room for an index a correspondence
  const std::uint32_t* first;  // of each pair, and one behind the last
  const std::uint64_t* keys;   // of each pair's samples
  Search* searches;
  RoundBest* block_bests;  // `blocks` a pair
  int blocks;              // of a round

  __device__ int size(int pair) const { return int(first[pair + 1] - first[pair]); }
};

// Threads that share the scoring of a hypothesis: enough that a few pairs fill the device, at most
// 4 for samples of 8, whose first look is short.
int threads_a_hypothesis(const FundamentalOptions& options, int pairs, int round,
                         int multiprocessors);
int blocks_a_round(int round, int threads_each);

void enqueue_hypotheses(cudaStream_t stream, const DevicePairs& pairs,
                        const FundamentalOptions& options, int threads_each);

}  // namespace cornea::geometry
