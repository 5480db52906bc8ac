#include <algorithm>
#include <cstring>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/parallel.h"
#include "cornea/geometry/fundamental/block_team.h"
#include "cornea/geometry/fundamental/device_fundamental.h"
#include "cornea/geometry/fundamental/fundamental_backend.h"

namespace cornea::geometry {
namespace {

using namespace core;

static_assert(sizeof(Correspondence) == sizeof(float4));

// Where results go: pinned host memory.
struct DeviceResults {
  Outcome* outcomes;
  Normalisation* normalisations;
  std::uint8_t* inliers;    // of all pairs
  std::uint8_t* concluded;  // a pair; on the device
  std::uint32_t* ended;     // pairs; on the device
};

__device__ BlockTeam team_of(TeamMemory& memory, const DevicePairs& pairs, int pair,
                             const FundamentalOptions& options) {
  const std::uint32_t first = pairs.first[pair];
  const Normalisation& n = pairs.searches[pair].normalisation;
  return {memory,
          pairs.pixels + first,
          pairs.normalised + first,
          pairs.list + first,
          pairs.size(pair),
          n,
          cost_scale(n.scales, options.threshold)};
}

// One pair a block.
__global__ void __launch_bounds__(kSumLanes) begin_kernel(DevicePairs pairs) {
  __shared__ TeamMemory memory;
  const int pair = blockIdx.x, count = pairs.size(pair);
  const std::uint32_t first = pairs.first[pair];
  const float4* pixels = pairs.pixels + first;
  const Normalisation as_they_are{0, 0, 0, 0, {1, 1}};
  BlockTeam team(memory, pixels, nullptr, nullptr, count, as_they_are, {});
  const Search search = begin_search(team);
  for (int i = threadIdx.x; i < count; i += kSumLanes) {
    const float4 p = pixels[i];
    const PointPair q = search.normalisation(p.x, p.y, p.z, p.w);
    pairs.normalised[first + i] = {float(q.x1), float(q.y1), float(q.x2), float(q.y2)};
  }
  if (threadIdx.x == 0) pairs.searches[pair] = search;
}

// One pair a block.
__global__ void __launch_bounds__(kSumLanes)
    end_round_kernel(DevicePairs pairs, FundamentalOptions options) {
  __shared__ TeamMemory memory;
  const int pair = blockIdx.x;
  Search search = pairs.searches[pair];
  if (search.ended()) return;
  BlockTeam team = team_of(memory, pairs, pair, options);
  RoundBest best;
  const RoundBest* blocks = pairs.block_bests + std::size_t(pair) * pairs.blocks;
  for (int i = threadIdx.x; i < pairs.blocks; i += kSumLanes) {
    if (blocks[i].key < best.key) best = blocks[i];
  }
  best = team.best_of_block(best);
  end_round(team, options, best, search);
  if (threadIdx.x == 0) pairs.searches[pair] = search;
}

// One pair a block; those that have ended and were not concluded before.
__global__ void __launch_bounds__(kSumLanes)
    conclude_kernel(DevicePairs pairs, FundamentalOptions options, DeviceResults results) {
  __shared__ TeamMemory memory;
  const int pair = blockIdx.x;
  Search search = pairs.searches[pair];
  if (!search.ended() || results.concluded[pair]) return;
  BlockTeam team = team_of(memory, pairs, pair, options);
  const Outcome outcome = conclude(team, options, pairs.keys[pair], search);
  const auto inlier = outcome_test(outcome, search.normalisation.scales, options.threshold);
  std::uint8_t* inliers = results.inliers + pairs.first[pair];
  for (int i = threadIdx.x; i < team.count(); i += kSumLanes) inliers[i] = inlier(team.point(i));
  __syncthreads();  // all have seen that it was not concluded
  if (threadIdx.x == 0) {
    results.outcomes[pair] = outcome;
    results.normalisations[pair] = search.normalisation;
    results.concluded[pair] = 1;
    atomicAdd(results.ended, 1u);
  }
}

class DeviceFundamental : public FundamentalBackend {
 public:
  DeviceFundamental(const Context& context, const FundamentalOptions& options)
      : context_(context), options_(options) {
    const DeviceGuard device(context);
    cuda_check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount,
                                      context.cuda_index()),
               "asking for the number of multiprocessors");
  }

  void estimate(std::span<const std::span<const Correspondence>> pairs,
                std::span<const std::uint64_t> keys, std::span<FundamentalResult> out,
                const std::function<void()>& meanwhile) override {
    constexpr std::size_t kMostPairs = 16384;      // a part: of a grid's rows
    constexpr std::size_t kMostPoints = 64 << 20;  // a part, in all
    constexpr std::size_t kMostBests = 4 << 20;    // of blocks, in all: 192 MB
    const std::size_t bests = blocks_a_round(round(), 1);
    const std::size_t most_pairs = std::clamp<std::size_t>(kMostBests / bests, 1, kMostPairs);
    const DeviceGuard device(context_);
    for (std::size_t begin = 0; begin < pairs.size();) {
      std::size_t end = begin, points = 0;
      while (end < pairs.size() && end - begin < most_pairs &&
             (end == begin || points + pairs[end].size() <= kMostPoints)) {
        points += pairs[end++].size();
      }
      const std::size_t count = end - begin;
      estimate_part(pairs.subspan(begin, count), keys.subspan(begin, count), points,
                    out.subspan(begin, count), begin == 0 ? meanwhile : nullptr);
      begin = end;
    }
  }

 private:
  void estimate_part(std::span<const std::span<const Correspondence>> pairs,
                     std::span<const std::uint64_t> keys, std::size_t points,
                     std::span<FundamentalResult> out, const std::function<void()>& meanwhile) {
    const DevicePairs device = upload(pairs, keys, points);
    const DeviceResults results = make_room(pairs.size(), points);
    const cudaStream_t stream = cuda_stream(context_);
    begin_kernel<<<device.count, kSumLanes, 0, stream>>>(device);
    cuda_check_launch("fundamental: normalisation");
    run_rounds(device, results, meanwhile);
    parallel_for(context_, int(pairs.size()), kPairsAPiece, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        std::copy_n(results.inliers + first_[i], pairs[i].size(), out[i].inliers.begin());
        write_outcome(results.outcomes[i], results.normalisations[i], out[i]);
      }
    });
    context_.count_download(points + pairs.size() * (sizeof(Outcome) + sizeof(Normalisation)));
  }

  // All that a part needs in one copy: correspondences, keys, places.
  DevicePairs upload(std::span<const std::span<const Correspondence>> pairs,
                     std::span<const std::uint64_t> keys, std::size_t points) {
    const std::size_t count = pairs.size(), bytes = points * sizeof(float4) +
                                                    count * sizeof(std::uint64_t) +
                                                    (count + 1) * sizeof(std::uint32_t);
    auto* staged = host_input_.reserve<std::byte>(context_, bytes);
    auto* input = input_.reserve<std::byte>(context_, bytes);
    const std::size_t keys_at = points * sizeof(float4);
    const std::size_t first_at = keys_at + count * sizeof(std::uint64_t);
    auto* first = reinterpret_cast<std::uint32_t*>(staged + first_at);
    first[0] = 0;
    for (std::size_t i = 0; i < count; ++i)
      first[i + 1] = first[i] + std::uint32_t(pairs[i].size());
    parallel_for(context_, int(count), kPairsAPiece, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        std::memcpy(staged + first[i] * sizeof(float4), pairs[i].data(), pairs[i].size_bytes());
      }
    });
    first_ = first;
    std::memcpy(staged + keys_at, keys.data(), keys.size_bytes());
    context_.upload(input, bytes, staged, bytes, bytes, 1);

    threads_each_ = threads_a_hypothesis(options_, int(count), round(), multiprocessors_);
    const int blocks = blocks_a_round(round(), threads_each_);
    return {int(count),
            reinterpret_cast<const float4*>(input),
            normalised_.reserve<float4>(context_, points),
            list_.reserve<int>(context_, points),
            reinterpret_cast<const std::uint32_t*>(input + first_at),
            reinterpret_cast<const std::uint64_t*>(input + keys_at),
            searches_.reserve<Search>(context_, count),
            block_bests_.reserve<RoundBest>(context_, count * blocks),
            blocks};
  }

  DeviceResults make_room(std::size_t pairs, std::size_t points) {
    auto* ended = ended_.reserve<std::uint32_t>(context_, 1);
    auto* concluded = concluded_.reserve<std::uint8_t>(context_, pairs);
    const cudaStream_t stream = cuda_stream(context_);
    cuda_check(cudaMemsetAsync(ended, 0, sizeof *ended, stream), "clearing a count");
    cuda_check(cudaMemsetAsync(concluded, 0, pairs, stream), "clearing marks");
    return {outcomes_.reserve<Outcome>(context_, pairs),
            normalisations_.reserve<Normalisation>(context_, pairs),
            inliers_.reserve<std::uint8_t>(context_, points), concluded, ended};
  }

  // Rounds are queued in groups; after each the host looks whether all pairs have ended. Most end
  // within the first.
  void run_rounds(const DevicePairs& device, const DeviceResults& results,
                  const std::function<void()>& meanwhile) {
    const cudaStream_t stream = cuda_stream(context_);
    auto* ended = host_ended_.reserve<std::uint32_t>(context_, 1);
    constexpr int kFirstGroup = 3, kLargestGroup = 32;
    int group = kFirstGroup;
    bool first = true;
    do {
      for (int i = 0; i < group; ++i) {
        enqueue_hypotheses(stream, device, options_, threads_each_);
        end_round_kernel<<<device.count, kSumLanes, 0, stream>>>(device, options_);
        cuda_check_launch("fundamental: round");
      }
      conclude_kernel<<<device.count, kSumLanes, 0, stream>>>(device, options_, results);
      cuda_check_launch("fundamental: conclusion");
      if (first && meanwhile) meanwhile();
      first = false;
      context_.download(ended, sizeof *ended, results.ended, sizeof *ended, sizeof *ended, 1);
      context_.synchronize();
      group = std::min(2 * group, kLargestGroup);
    } while (*ended < std::uint32_t(device.count));
  }

  int round() const { return std::min(options_.round, options_.max_hypotheses); }

  Context context_;
  FundamentalOptions options_;
  int multiprocessors_ = 1, threads_each_ = 1;
  const std::uint32_t* first_ = nullptr;  // of each pair of a part, in host_input_
  Buffer host_input_{Place::pinned, "fundamental: correspondences"};
  Buffer input_{Place::device, "fundamental: correspondences"};
  Buffer normalised_{Place::device, "fundamental: normalised coordinates"};
  Buffer list_{Place::device, "fundamental: lists"};
  Buffer searches_{Place::device, "fundamental: searches"};
  Buffer block_bests_{Place::device, "fundamental: best hypotheses"};
  Buffer concluded_{Place::device, "fundamental: marks"};
  Buffer ended_{Place::device, "fundamental: count"};
  Buffer host_ended_{Place::pinned, "fundamental: count"};
  Buffer outcomes_{Place::pinned, "fundamental: outcomes"};
  Buffer normalisations_{Place::pinned, "fundamental: normalisations"};
  Buffer inliers_{Place::pinned, "fundamental: inliers"};
};

}  // namespace

std::unique_ptr<FundamentalBackend> make_device_fundamental(const Context& context,
                                                            const FundamentalOptions& options) {
  return std::make_unique<DeviceFundamental>(context, options);
}

}  // namespace cornea::geometry
