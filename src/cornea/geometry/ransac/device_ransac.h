// SPDX-License-Identifier: Apache-2.0
// For .cu files: the rounds of hypotheses on CUDA, for all problems.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/parallel.h"
#include "cornea/geometry/ransac/block_team.h"
#include "cornea/geometry/ransac/device_pairs.h"
#include "cornea/geometry/ransac/ransac.h"

namespace cornea::geometry {

static_assert(sizeof(Correspondence) == sizeof(float4));

// Where results are written: pinned host memory, unless noted.
template <class Outcome>
struct DeviceResults {
  Outcome* outcomes;
  Normalisation* normalisations;
  std::uint8_t* inliers;    // of all pairs
  std::uint8_t* concluded;  // one per pair; on the device
  std::uint32_t* ended;     // number of pairs that have ended; on the device
};

template <class Problem>
__device__ BlockTeam<typename Problem::Metric> team_of(TeamMemory& memory, const DevicePairs& pairs,
                                                       int pair, const Problem& problem) {
  const std::uint32_t first = pairs.first[pair];
  const Normalisation& n = pairs.searches[pair].normalisation;
  return {memory,
          pairs.pixels + first,
          pairs.normalised + first,
          pairs.list + first,
          pairs.size(pair),
          n,
          cost_scale(n.scales, problem.search.threshold)};
}

// One block per pair.
template <class Problem>
__global__ void __launch_bounds__(kSumLanes) begin_kernel(DevicePairs pairs) {
  __shared__ TeamMemory memory;
  const int pair = blockIdx.x, count = pairs.size(pair);
  const std::uint32_t first = pairs.first[pair];
  const float4* pixels = pairs.pixels + first;
  const Normalisation as_they_are{0, 0, 0, 0, {1, 1}};
  BlockTeam<typename Problem::Metric> team(memory, pixels, nullptr, nullptr, count, as_they_are,
                                           {});
  const Normalisation given = pairs.given[pair];
  const Search search = begin_search(given.scales.first > 0 ? given : normalise(team));
  for (int i = threadIdx.x; i < count; i += kSumLanes) {
    const float4 p = pixels[i];
    const PointPair q = search.normalisation(p.x, p.y, p.z, p.w);
    pairs.normalised[first + i] = {float(q.x1), float(q.y1), float(q.x2), float(q.y2)};
  }
  if (threadIdx.x == 0) pairs.searches[pair] = search;
}

// One block per pair.
template <class Problem>
__global__ void __launch_bounds__(kSumLanes) end_round_kernel(DevicePairs pairs, Problem problem) {
  __shared__ TeamMemory memory;
  const int pair = blockIdx.x;
  Search search = pairs.searches[pair];
  if (search.ended()) return;
  auto team = team_of(memory, pairs, pair, problem);
  RoundBest best;
  const RoundBest* blocks = pairs.block_bests + std::size_t(pair) * pairs.blocks;
  for (int i = threadIdx.x; i < pairs.blocks; i += kSumLanes) {
    if (blocks[i].key < best.key) best = blocks[i];
  }
  best = team.best_of_block(best);
  end_round(problem, team, best, search);
  if (threadIdx.x == 0) pairs.searches[pair] = search;
}

// One block per pair, for pairs that have ended and are not yet concluded.
template <class Problem>
__global__ void __launch_bounds__(kSumLanes)
    conclude_kernel(DevicePairs pairs, Problem problem,
                    DeviceResults<typename Problem::Outcome> results) {
  __shared__ TeamMemory memory;
  const int pair = blockIdx.x;
  Search search = pairs.searches[pair];
  if (!search.ended() || results.concluded[pair]) return;
  auto team = team_of(memory, pairs, pair, problem);
  const auto outcome = problem.conclude(team, pairs.keys[pair], search);
  const auto inlier = Problem::inlier_of(outcome, search.normalisation.scales);
  std::uint8_t* inliers = results.inliers + pairs.first[pair];
  for (int i = threadIdx.x; i < team.count(); i += kSumLanes) inliers[i] = inlier(team.point(i));
  __syncthreads();  // all threads have read that it was not concluded
  if (threadIdx.x == 0) {
    results.outcomes[pair] = outcome;
    results.normalisations[pair] = search.normalisation;
    results.concluded[pair] = 1;
    atomicAdd(results.ended, 1u);
  }
}

// How the hypotheses of a round are launched for a problem, and how many threads share the scoring
// of one hypothesis.
template <class Problem>
struct HypothesisLaunch {
  static int threads_each(const Problem&, int, int, int) { return 1; }
  static void enqueue(cudaStream_t stream, const DevicePairs& pairs, const Problem& problem, int) {
    const dim3 grid(pairs.blocks, pairs.count);
    models_kernel<Problem><<<grid, kHypothesisThreads, 0, stream>>>(pairs, problem);
  }
};

inline int blocks_per_round(int round, int threads_each) {
  return core::divide_up(round, kHypothesisThreads / threads_each);
}

template <class Problem>
class DeviceRansac : public Ransac<Problem> {
  using Outcome = typename Problem::Outcome;
  using Results = DeviceResults<Outcome>;
  using Outcomes = typename Ransac<Problem>::Outcomes;

 public:
  DeviceRansac(const Context& context, const Problem& problem)
      : context_(context), problem_(problem) {
    const core::DeviceGuard device(context);
    core::cuda_check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount,
                                            context.cuda_index()),
                     "asking for the number of multiprocessors");
  }

  void run(std::span<const RansacPair> pairs, Outcomes out,
           const std::function<void()>& meanwhile) override {
    constexpr std::size_t kMostPairs = 16384;      // per part; they are the rows of a grid
    constexpr std::size_t kMostPoints = 64 << 20;  // per part, in total
    constexpr std::size_t kMostBests = 4 << 20;    // of all blocks together: 192 MB
    const std::size_t bests = blocks_per_round(round(), 1);
    const std::size_t most_pairs = std::clamp<std::size_t>(kMostBests / bests, 1, kMostPairs);
    const core::DeviceGuard device(context_);
    for (std::size_t begin = 0; begin < pairs.size();) {
      std::size_t end = begin, points = 0;
      while (end < pairs.size() && end - begin < most_pairs &&
             (end == begin || points + pairs[end].matches.size() <= kMostPoints)) {
        points += pairs[end++].matches.size();
      }
      const std::size_t count = end - begin;
      try {
        run_part(pairs.subspan(begin, count), points, out.subspan(begin, count),
                 begin == 0 ? meanwhile : nullptr);
      } catch (...) {
        // The next call writes the pinned memory that the queued work still reads.
        cudaStreamSynchronize(core::cuda_stream(context_));
        throw;
      }
      begin = end;
    }
  }

 private:
  void run_part(std::span<const RansacPair> pairs, std::size_t points, Outcomes out,
                const std::function<void()>& meanwhile) {
    const DevicePairs device = upload(pairs, points);
    const Results results = make_room(pairs.size(), points);
    const cudaStream_t stream = core::cuda_stream(context_);
    begin_kernel<Problem><<<device.count, kSumLanes, 0, stream>>>(device);
    core::cuda_check_launch("ransac: normalisation");
    run_rounds(device, results, meanwhile);
    core::parallel_for(context_, int(pairs.size()), kPairsPerPiece, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        std::copy_n(results.inliers + first_[i], pairs[i].matches.size(), pairs[i].inliers);
        out[i] = {results.outcomes[i], results.normalisations[i]};
      }
    });
    context_.count_download(points + pairs.size() * (sizeof(Outcome) + sizeof(Normalisation)));
  }

  // Uploads everything that a part needs in one copy: correspondences, keys, offsets.
  DevicePairs upload(std::span<const RansacPair> pairs, std::size_t points) {
    const std::size_t count = pairs.size();
    const std::size_t given_at = points * sizeof(float4);
    const std::size_t keys_at = given_at + count * sizeof(Normalisation);
    const std::size_t first_at = keys_at + count * sizeof(std::uint64_t);
    const std::size_t bytes = first_at + (count + 1) * sizeof(std::uint32_t);
    auto* staged = host_input_.reserve<std::byte>(context_, bytes);
    auto* input = input_.reserve<std::byte>(context_, bytes);
    auto* first = reinterpret_cast<std::uint32_t*>(staged + first_at);
    auto* keys = reinterpret_cast<std::uint64_t*>(staged + keys_at);
    auto* given = reinterpret_cast<Normalisation*>(staged + given_at);
    first[0] = 0;
    for (std::size_t i = 0; i < count; ++i) {
      first[i + 1] = first[i] + std::uint32_t(pairs[i].matches.size());
      keys[i] = pairs[i].key;
      given[i] = pairs[i].given;
    }
    core::parallel_for(context_, int(count), kPairsPerPiece, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        std::memcpy(staged + first[i] * sizeof(float4), pairs[i].matches.data(),
                    pairs[i].matches.size_bytes());
      }
    });
    first_ = first;
    context_.upload(input, bytes, staged, bytes, bytes, 1);

    threads_each_ =
        HypothesisLaunch<Problem>::threads_each(problem_, int(count), round(), multiprocessors_);
    const int blocks = blocks_per_round(round(), threads_each_);
    return {int(count),
            reinterpret_cast<const float4*>(input),
            normalised_.reserve<float4>(context_, points),
            list_.reserve<int>(context_, points),
            reinterpret_cast<const std::uint32_t*>(input + first_at),
            reinterpret_cast<const std::uint64_t*>(input + keys_at),
            reinterpret_cast<const Normalisation*>(input + given_at),
            searches_.reserve<Search>(context_, count),
            block_bests_.reserve<RoundBest>(context_, count * blocks),
            blocks};
  }

  Results make_room(std::size_t pairs, std::size_t points) {
    auto* ended = ended_.reserve<std::uint32_t>(context_, 1);
    auto* concluded = concluded_.reserve<std::uint8_t>(context_, pairs);
    const cudaStream_t stream = core::cuda_stream(context_);
    core::cuda_check(cudaMemsetAsync(ended, 0, sizeof *ended, stream), "clearing a count");
    core::cuda_check(cudaMemsetAsync(concluded, 0, pairs, stream), "clearing marks");
    return {outcomes_.reserve<Outcome>(context_, pairs),
            normalisations_.reserve<Normalisation>(context_, pairs),
            inliers_.reserve<std::uint8_t>(context_, points), concluded, ended};
  }

  // Rounds are queued in groups; after each group the host checks whether all pairs have ended.
  // Most end within the first group.
  void run_rounds(const DevicePairs& device, const Results& results,
                  const std::function<void()>& meanwhile) {
    const cudaStream_t stream = core::cuda_stream(context_);
    auto* ended = host_ended_.reserve<std::uint32_t>(context_, 1);
    constexpr int kFirstGroup = 3, kLargestGroup = 32;
    int group = kFirstGroup;
    bool first = true;
    do {
      for (int i = 0; i < group; ++i) {
        HypothesisLaunch<Problem>::enqueue(stream, device, problem_, threads_each_);
        core::cuda_check_launch("ransac: hypotheses");
        end_round_kernel<Problem><<<device.count, kSumLanes, 0, stream>>>(device, problem_);
        core::cuda_check_launch("ransac: round");
      }
      conclude_kernel<Problem><<<device.count, kSumLanes, 0, stream>>>(device, problem_, results);
      core::cuda_check_launch("ransac: conclusion");
      if (first && meanwhile) meanwhile();
      first = false;
      context_.download(ended, sizeof *ended, results.ended, sizeof *ended, sizeof *ended, 1);
      context_.synchronize();
      group = std::min(2 * group, kLargestGroup);
    } while (*ended < std::uint32_t(device.count));
  }

  int round() const { return std::min(problem_.search.round, problem_.search.max_hypotheses); }

  Context context_;
  Problem problem_;
  int multiprocessors_ = 1, threads_each_ = 1;
  const std::uint32_t* first_ = nullptr;  // offset of each pair of a part, in host_input_
  core::Buffer host_input_{Place::pinned, "ransac: correspondences"};
  core::Buffer input_{Place::device, "ransac: correspondences"};
  core::Buffer normalised_{Place::device, "ransac: normalised coordinates"};
  core::Buffer list_{Place::device, "ransac: lists"};
  core::Buffer searches_{Place::device, "ransac: searches"};
  core::Buffer block_bests_{Place::device, "ransac: best hypotheses"};
  core::Buffer concluded_{Place::device, "ransac: marks"};
  core::Buffer ended_{Place::device, "ransac: count"};
  core::Buffer host_ended_{Place::pinned, "ransac: count"};
  core::Buffer outcomes_{Place::pinned, "ransac: outcomes"};
  core::Buffer normalisations_{Place::pinned, "ransac: normalisations"};
  core::Buffer inliers_{Place::pinned, "ransac: inliers"};
};

template <class Problem>
std::unique_ptr<Ransac<Problem>> make_device_ransac(const Context& context,
                                                    const Problem& problem) {
  return std::make_unique<DeviceRansac<Problem>>(context, problem);
}

}  // namespace cornea::geometry
