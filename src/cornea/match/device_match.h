// For .cu files only: matching on CUDA. device_match.cu holds the memory and the order of the
// steps, tile_search.cu the search itself, match_steps.cu the small steps around it.
//
// Many pairs run in one grid. A block of the search is 256 rows of one pair's A against a walk of
// whole chunks of 256 columns of its B; the walk is as long as fills the device best. Blocks of one
// row range that share B between them leave a list of neighbours each, and a small step joins them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include "cornea/match/match_math.h"

namespace cornea::match {

inline constexpr int kBlockRows = kKeyIndices;       // of A, a block of the search
inline constexpr int kChunkColumns = kKeyIndices;    // of B, between widenings of keys
inline constexpr int kSearchBlocksPerProcessor = 3;  // what its registers allow

// A set of descriptors and the bases of its keys, padded to whole chunks.
struct DeviceSet {
  const std::uint8_t* data;  // aligned to 16 bytes
  std::int32_t* base;
  std::int32_t count;
  std::uint32_t first_chunk;  // among those of all sets
};

struct DevicePair {
  const std::uint8_t *a, *b;
  const std::int32_t *a_base, *b_base;
  std::int32_t a_count, b_count;
  std::uint32_t splits;       // walks along B
  std::uint32_t first_block;  // of the search, among those of all pairs
  std::uint32_t first_group;  // of 256 rows, among those of all pairs
  Nearest* rows;              // a_count of them for every walk
  ColumnBest* columns;
  Match* matches;  // room for a_count, in memory that the host reads
};

struct DeviceTable {
  const DevicePair* pairs;
  int pair_count;
};

// The last of `count` sorted items whose first(item) is at most `index`.
template <class Item, class First>
__device__ const Item& item_of(const Item* items, int count, std::uint32_t index,
                               const First& first) {
  int low = 0, high = count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (first(items[middle]) <= index ? low : high) = middle;
  }
  return items[low];
}

// Norms of all sets, as bases of keys.
void enqueue_bases(cudaStream_t stream, const DeviceSet* sets, int set_count, std::uint32_t chunks);
// Neighbours of every row by walk, without |a|^2, and with `mutual` the nearest of every column.
void enqueue_search(cudaStream_t stream, DeviceTable table, std::uint32_t blocks,
                    int chunks_per_walk, bool mutual);
// Joins the walks into the first one's rows, finished, and marks the matches: one bit per row, and
// their number in every group of 256 rows.
void enqueue_tests(cudaStream_t stream, DeviceTable table, std::uint32_t groups, MatchTests tests,
                   std::uint32_t* marks, std::uint32_t* group_counts);
// The matches in the order of A, and how many each pair has.
void enqueue_gather(cudaStream_t stream, DeviceTable table, std::uint32_t groups,
                    const std::uint32_t* marks, const std::uint32_t* group_counts,
                    std::uint32_t* pair_counts);

}  // namespace cornea::match
