// SPDX-License-Identifier: Apache-2.0
// For .cu files only: matching on CUDA. device_match.cu holds the memory and the order of the
// steps, tile_search.cu the search itself, match_steps.cu the small steps around it.
//
// Many pairs run in one grid. A block of the search compares 256 rows of one pair's A with a walk
// of whole chunks of 256 columns of its B; the length of the walk is chosen for the best occupancy.
// If several blocks divide B for the same rows, each writes a list of neighbours, and a small
// kernel merges them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include "cornea/match/match_math.h"

namespace cornea::match {

inline constexpr int kBlockRows = kKeyIndices;       // rows of A per block
inline constexpr int kChunkColumns = kKeyIndices;    // columns of B between two widenings of keys
inline constexpr int kSearchBlocksPerProcessor = 3;  // limited by its registers

// A set of descriptors and the bases of its keys, padded to whole chunks.
struct DeviceSet {
  const std::uint8_t* data;  // aligned to 16 bytes
  std::int32_t* base;
  std::int32_t count;
  std::uint32_t first_chunk;  // index over all sets
};

struct DevicePair {
  const std::uint8_t *a, *b;
  const std::int32_t *a_base, *b_base;
  std::int32_t a_count, b_count;
  std::uint32_t splits;       // walks along B
  std::uint32_t first_block;  // of the search, over all pairs
  std::uint32_t first_group;  // of 256 rows, over all pairs
  Nearest* rows;              // a_count per walk
  ColumnBest* columns;
  Match* matches;  // room for a_count, in pinned host memory
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

// Computes the norms of all sets, as bases of keys.
void enqueue_bases(cudaStream_t stream, const DeviceSet* sets, int set_count, std::uint32_t chunks);
// Finds the neighbours of every row per walk, without |a|^2, and, with `mutual`, the nearest row of
// every column.
void enqueue_search(cudaStream_t stream, DeviceTable table, std::uint32_t blocks,
                    int chunks_per_walk, bool mutual);
// Merges the walks into the rows of the first one, adds |a|^2, and marks the matches: one bit per
// row, and one count per group of 256 rows.
void enqueue_tests(cudaStream_t stream, DeviceTable table, std::uint32_t groups, MatchTests tests,
                   std::uint32_t* marks, std::uint32_t* group_counts);
// Gathers the matches in the order of A (stream compaction) and counts them per pair.
void enqueue_gather(cudaStream_t stream, DeviceTable table, std::uint32_t groups,
                    const std::uint32_t* marks, const std::uint32_t* group_counts,
                    std::uint32_t* pair_counts);

}  // namespace cornea::match
