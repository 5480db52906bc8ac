// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>

#include "cornea/core/buffer.h"
#include "cornea/core/cuda.h"
#include "cornea/match/device_match.h"
#include "cornea/match/match_backend.h"

namespace cornea::match {
namespace {

using namespace core;

// Pairs are searched together up to this total number of points, which takes about 300 MB
// besides the descriptors.
constexpr std::size_t kPointsAtOnce = 8 << 20;
constexpr int kUsualWalk = 64;              // chunks; longer walks only to save memory
constexpr std::size_t kMostRows = 4 << 20;  // over all walks: 64 MB; or 2 per point if more

std::size_t points_of(const MatchPair& pair) {
  return std::size_t(pair.a.count) + std::size_t(pair.b.count);
}
bool has_work(const MatchPair& pair) { return pair.a.count > 0 && pair.b.count > 0; }
std::uint32_t chunks_of(int count) { return std::uint32_t(divide_up(count, kChunkColumns)); }

std::uint64_t blocks_of(const MatchPair& pair, int chunks_per_walk) {
  return std::uint64_t(chunks_of(pair.a.count)) *
         divide_up(chunks_of(pair.b.count), std::uint32_t(chunks_per_walk));
}

std::size_t rows_of(const MatchPair& pair, int chunks_per_walk) {
  return pair.a.count *
         std::size_t(divide_up(chunks_of(pair.b.count), std::uint32_t(chunks_per_walk)));
}

// The number of chunks of B per block: long walks load A less often, and the last wave of blocks
// should be full. The memory for the results of the walks stays linear in the number of points.
int choose_walk(std::span<const MatchPair> pairs, int processors) {
  const std::uint64_t at_once = std::uint64_t(processors) * kSearchBlocksPerProcessor;
  constexpr double kStart = 0.75;  // cost of starting a block, in chunks
  int best = 1;
  double least = INFINITY;
  for (int walk = 1; walk <= kUsualWalk || least == INFINITY; walk += divide_up(walk, kUsualWalk)) {
    std::uint64_t blocks = 0;
    std::size_t rows = 0, points = 0;
    for (const MatchPair& pair : pairs) {
      if (!has_work(pair)) continue;
      blocks += blocks_of(pair, walk);
      rows += rows_of(pair, walk);
      points += points_of(pair);
    }
    const double cost = double(divide_up(blocks, at_once)) * (walk + kStart);
    if (rows <= std::max(kMostRows, 2 * points) && cost < least) {
      least = cost;
      best = walk;
    }
  }
  return best;
}

class DeviceMatcher : public MatchBackend {
 public:
  DeviceMatcher(const Context& context, const MatchOptions& options)
      : context_(context), tests_{options.ratio, options.max_distance, options.mutual} {
    const DeviceGuard device(context_);
    cuda_check(
        cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, context_.cuda_index()),
        "reading the CUDA device's properties");
  }

  const char* kernel() const override { return "tensor cores"; }

  void match(std::span<const MatchPair> pairs, std::span<std::vector<Match>> out,
             StageClock& clock) override {
    const DeviceGuard device(context_);
    for (std::size_t first = 0; first < pairs.size();) {
      const std::size_t count = pairs_at_once(pairs.subspan(first));
      match_together(pairs.subspan(first, count), out.subspan(first, count), clock);
      first += count;
    }
  }

  void nearest(std::span<const MatchPair> pairs, std::span<std::vector<Nearest>> out,
               StageClock& clock) override {
    const DeviceGuard device(context_);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      out[i].assign(pairs[i].a.count, {});
      if (!has_work(pairs[i])) continue;
      search(pairs.subspan(i, 1), clock);
      const std::size_t bytes = out[i].size() * sizeof(Nearest);
      context_.download(out[i].data(), bytes, rows_.data<Nearest>(), bytes, bytes, 1);
      context_.synchronize();
    }
  }

 private:
  static std::size_t pairs_at_once(std::span<const MatchPair> pairs) {
    std::size_t count = 0, points = 0;
    while (count < pairs.size()) {
      points += points_of(pairs[count]);
      if (count > 0 && points > kPointsAtOnce) break;
      ++count;
    }
    return count;
  }

  void match_together(std::span<const MatchPair> pairs, std::span<std::vector<Match>> out,
                      StageClock& clock) {
    search(pairs, clock);
    if (pair_count_ == 0) return;
    enqueue_gather(stream(), table_, groups_, marks_.data<std::uint32_t>(),
                   group_counts_.data<std::uint32_t>(), pair_counts_.data<std::uint32_t>());
    clock.mark("list");
    context_.synchronize();
    const std::uint32_t* counts = pair_counts_.data<std::uint32_t>();
    const Match* matches = matches_.data<Match>();
    std::size_t total = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!has_work(pairs[i])) continue;
      out[i].assign(matches, matches + *counts);
      total += *counts++;
      matches += pairs[i].a.count;
    }
    context_.count_download(total * sizeof(Match) + pair_count_ * sizeof(std::uint32_t));
  }

  // All steps except the list of matches.
  void search(std::span<const MatchPair> pairs, StageClock& clock) {
    const int walk = choose_walk(pairs, processors_);
    list_sets(pairs);
    if (!make_table(pairs, walk)) return;
    clock.mark("upload");
    enqueue_bases(stream(), device_sets(), int(sets_.size()), set_chunks_);
    if (tests_.mutual) {
      cuda_check(cudaMemsetAsync(columns_.data<ColumnBest>(), 0xFF,
                                 column_count_ * sizeof(ColumnBest), stream()),
                 "clearing the nearest of columns");
    }
    enqueue_search(stream(), table_, blocks_, walk, tests_.mutual);
    clock.mark("search");
    enqueue_tests(stream(), table_, groups_, tests_, marks_.data<std::uint32_t>(),
                  group_counts_.data<std::uint32_t>());
    clock.mark("tests");
  }

  // Lists every set once, whatever the number of pairs that use it, in device memory and aligned.
  void list_sets(std::span<const MatchPair> pairs) {
    set_of_.clear();
    sets_.clear();
    set_chunks_ = 0;
    std::size_t copied = 0;
    for (const MatchPair& pair : pairs) {
      if (!has_work(pair)) continue;
      for (const DescriptorView* view : {&pair.a, &pair.b}) {
        const auto [entry, is_new] = set_of_.try_emplace({view->data, view->count}, sets_.size());
        if (!is_new) continue;
        sets_.push_back({view->data, nullptr, view->count, set_chunks_});
        set_chunks_ += chunks_of(view->count);
        if (needs_copy(*view)) copied += std::size_t(view->count) * Features::kLength;
      }
    }
    std::uint8_t* to = descriptors_.reserve<std::uint8_t>(context_, copied);
    std::int32_t* bases =
        bases_.reserve<std::int32_t>(context_, std::size_t(set_chunks_) * kChunkColumns);
    for (DeviceSet& set : sets_) set.base = bases + std::size_t(set.first_chunk) * kChunkColumns;
    for (const MatchPair& pair : pairs) {
      if (!has_work(pair)) continue;
      for (const DescriptorView* view : {&pair.a, &pair.b}) {
        DeviceSet& set = sets_[set_of_.at({view->data, view->count})];
        // Used in place, or already copied.
        if (!needs_copy(*view) || set.data != view->data) continue;
        const std::size_t bytes = std::size_t(view->count) * Features::kLength;
        if (view->on_device()) {
          context_.copy_on_device(to, bytes, view->data, bytes, bytes, 1);
        } else {
          context_.upload(to, bytes, view->data, bytes, bytes, 1);
        }
        set.data = to;
        to += bytes;
      }
    }
  }
  static bool needs_copy(const DescriptorView& view) {
    constexpr std::uintptr_t kAlignment = 16;  // required by the loads
    return !view.on_device() || reinterpret_cast<std::uintptr_t>(view.data) % kAlignment != 0;
  }

  // Allocates memory and writes the table of pairs; returns false if there is nothing to search.
  bool make_table(std::span<const MatchPair> pairs, int walk) {
    std::size_t row_count = 0, match_count = 0;
    std::uint64_t blocks = 0;
    pair_count_ = 0;
    column_count_ = 0;
    groups_ = 0;
    for (const MatchPair& pair : pairs) {
      if (!has_work(pair)) continue;
      ++pair_count_;
      blocks += blocks_of(pair, walk);
      groups_ += chunks_of(pair.a.count);
      row_count += rows_of(pair, walk);
      column_count_ += pair.b.count;
      match_count += pair.a.count;
    }
    if (pair_count_ == 0) return false;
    require(blocks <= INT32_MAX, "a pair of this size is too large to match at once");
    blocks_ = std::uint32_t(blocks);
    rows_.reserve<Nearest>(context_, row_count);
    if (tests_.mutual) columns_.reserve<ColumnBest>(context_, column_count_);
    marks_.reserve<std::uint32_t>(context_, std::size_t(groups_) * (kBlockRows / 32));
    group_counts_.reserve<std::uint32_t>(context_, groups_);
    pair_counts_.reserve<std::uint32_t>(context_, pair_count_);
    matches_.reserve<Match>(context_, match_count);
    write_table(pairs, walk);
    return true;
  }
  static std::uint32_t splits_of(const MatchPair& pair, int walk) {
    return divide_up(chunks_of(pair.b.count), std::uint32_t(walk));
  }

  void write_table(std::span<const MatchPair> pairs, int walk) {
    const std::size_t set_bytes = sets_.size() * sizeof(DeviceSet);
    const std::size_t bytes = set_bytes + pair_count_ * sizeof(DevicePair);
    static_assert(sizeof(DeviceSet) % alignof(DevicePair) == 0);
    std::uint8_t* host = host_table_.reserve<std::uint8_t>(context_, bytes);
    std::uint8_t* device = device_table_.reserve<std::uint8_t>(context_, bytes);
    std::memcpy(host, sets_.data(), set_bytes);
    DevicePair* next = reinterpret_cast<DevicePair*>(host + set_bytes);
    Nearest* rows = rows_.data<Nearest>();
    ColumnBest* columns = columns_.data<ColumnBest>();
    Match* matches = matches_.data<Match>();
    std::uint32_t block = 0, group = 0;
    for (const MatchPair& pair : pairs) {
      if (!has_work(pair)) continue;
      const DeviceSet& a = sets_[set_of_.at({pair.a.data, pair.a.count})];
      const DeviceSet& b = sets_[set_of_.at({pair.b.data, pair.b.count})];
      const std::uint32_t splits = splits_of(pair, walk);
      *next++ = {a.data, b.data, a.base, b.base, a.count, b.count,
                 splits, block,  group,  rows,   columns, matches};
      block += chunks_of(a.count) * splits;
      group += chunks_of(a.count);
      rows += std::size_t(a.count) * splits;
      if (tests_.mutual) columns += b.count;
      matches += a.count;
    }
    context_.upload(device, bytes, host, bytes, bytes, 1);
    table_ = {reinterpret_cast<const DevicePair*>(device + set_bytes), pair_count_};
  }

  cudaStream_t stream() const { return cuda_stream(context_); }
  const DeviceSet* device_sets() const { return device_table_.data<DeviceSet>(); }

  Context context_;
  MatchTests tests_;
  int processors_ = 0;
  std::map<std::pair<const std::uint8_t*, int>, std::size_t> set_of_;
  std::vector<DeviceSet> sets_;
  DeviceTable table_{};
  int pair_count_ = 0;  // with descriptors on both sides
  std::uint32_t set_chunks_ = 0, blocks_ = 0, groups_ = 0;
  std::size_t column_count_ = 0;

  Buffer descriptors_{Place::device, "match: descriptors"};
  Buffer bases_{Place::device, "match: norms"};
  Buffer rows_{Place::device, "match: neighbours of rows"};
  Buffer columns_{Place::device, "match: nearest of columns"};
  Buffer marks_{Place::device, "match: marks"};
  Buffer group_counts_{Place::device, "match: counts by group"};
  Buffer device_table_{Place::device, "match: table of pairs"};
  Buffer host_table_{Place::pinned, "match: table of pairs for the device"};
  Buffer pair_counts_{Place::pinned, "match: counts for the host"};
  Buffer matches_{Place::pinned, "match: matches for the host"};
};

}  // namespace

std::unique_ptr<MatchBackend> make_device_matcher(const Context& context,
                                                  const MatchOptions& options) {
  return std::make_unique<DeviceMatcher>(context, options);
}

}  // namespace cornea::match
