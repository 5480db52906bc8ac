// SPDX-License-Identifier: Apache-2.0
// The search: products on the tensor cores, minima in registers.
//
// A warp holds 64 rows of A in registers, all 128 bytes of each, and takes 8 columns of B at a time
// from shared memory: 16 products of 16 x 8 x 32, then 16 distances per lane. Each distance gives a
// key for its row and a key for its column (match_math.h), with one multiply-add each. The two
// smallest keys of a row stay in registers through a chunk of 256 columns; the column keys are
// reduced by three shuffles, in shared memory, and by one atomic minimum per column and block,
// which does not depend on the order.
#include "cornea/core/cuda.h"
#include "cornea/core/warp.h"
#include "cornea/match/device_match.h"
#include "cornea/match/tensor_core.h"

namespace cornea::match {
namespace {

using namespace core;

constexpr int kLength = Features::kLength;
constexpr int kWarps = 4, kThreads = kWarps * kWarp;
constexpr int kWarpRows = kBlockRows / kWarps;  // 64: as many as the registers hold
constexpr int kRowTiles = kWarpRows / 16;
constexpr int kSteps = kLength / 32;      // steps of 32 bytes, one product each
constexpr int kTileColumns = 128;         // of B in shared memory; double-buffered
constexpr int kLaneRows = 2 * kRowTiles;  // rows whose keys a lane holds
static_assert(kBlockRows == 2 * kTileColumns, "A comes in through the two tiles");
static_assert(kChunkColumns == 2 * kTileColumns);
static_assert(kTileColumns == kThreads, "a thread finishes a column");

struct SharedTiles {
  alignas(128) std::uint8_t bytes[2][kTileColumns * kLength];
  alignas(16) std::int32_t base[2][kTileColumns];
  std::int32_t column[kWarps][kTileColumns];  // smallest keys
};

__device__ std::int32_t smallest(std::int32_t a, std::int32_t b, std::int32_t c) {
  return __vimin3_s32(a, b, c);
}

// Rows of 128 bytes are swizzled in shared memory: their 16-byte parts are permuted by part ^ row %
// 8, so that the same part of 8 rows lies in different banks.
__device__ int part_offset(int row, int part) { return row * kLength + ((part ^ (row & 7)) << 4); }

__device__ void begin_tile(std::uint8_t* tile, const std::uint8_t* data, int first, int count) {
  constexpr int kParts = kLength / 16;
#pragma unroll
  for (int i = 0; i < kTileColumns * kParts / kThreads; ++i) {
    const int at = i * kThreads + threadIdx.x;
    const int row = at / kParts, part = at % kParts;
    const bool any = first + row < count;
    const std::uint8_t* from = data + std::size_t(any ? first + row : 0) * kLength + part * 16;
    begin_copy<16>(tile + part_offset(row, part), from, any);
  }
}

// The two smallest keys of each of a lane's rows.
struct RowKeys {
  std::int32_t best[kLaneRows], second[kLaneRows];

  __device__ void clear() {
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r) best[r] = second[r] = kNoKey;
  }
  __device__ void enter(int r, std::int32_t key0, std::int32_t key1) {
    const std::int32_t low = min(key0, key1), high = max(key0, key1);
    second[r] = smallest(second[r], high, max(best[r], low));
    best[r] = min(best[r], low);
  }
  // Combines the keys of the four lanes that share a row; every lane gets the result.
  __device__ void join_lanes() {
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r) {
#pragma unroll
      for (int step = 1; step < 4; step *= 2) {
        const std::int32_t other = __shfl_xor_sync(~0u, best[r], step);
        const std::int32_t other_second = __shfl_xor_sync(~0u, second[r], step);
        second[r] = smallest(second[r], other_second, max(best[r], other));
        best[r] = min(best[r], other);
      }
    }
  }
};

// Row r of a lane's rows, relative to the warp's first row.
__device__ int lane_row(int r, int lane) { return r * 8 + lane / 4; }

// A lane's share of the warp's rows of A.
struct RowBytes {
  std::uint32_t part[kRowTiles][kSteps][4];

  __device__ void load(const SharedTiles& tiles, int warp, int lane) {
    const std::uint8_t* half = tiles.bytes[warp * kWarpRows / kTileColumns];
    const int first = warp * kWarpRows % kTileColumns;
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) {
      // The matrices in the order of multiply_bytes(): 8 rows, the 8 below, and both 16 bytes
      // further.
      const int row = first + i * 16 + (lane / 8 % 2) * 8 + lane % 8;
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        load_matrices(part[i][s], shared_address(half + part_offset(row, 2 * s + lane / 16)));
      }
    }
  }
};

// The smallest of 8 lanes' keys for each of two columns: lanes with bit 2 clear get that of the
// first column, the others that of the second.
__device__ std::int32_t join_columns(std::int32_t key0, std::int32_t key1, int lane) {
  const bool upper = lane & 4;
  std::int32_t mine = upper ? key1 : key0;
  mine = min(mine, __shfl_xor_sync(~0u, upper ? key0 : key1, 4));
  mine = min(mine, __shfl_xor_sync(~0u, mine, 8));
  return min(mine, __shfl_xor_sync(~0u, mine, 16));
}

// One tile of columns against the warp's rows.
template <bool columns>
__device__ void search_tile(SharedTiles& tiles, int stage, const RowBytes& a,
                            const std::int32_t (&a_base)[kLaneRows], RowKeys& rows, int warp,
                            int lane) {
  // Lane l passes row l % 8 of part l / 8, and of the four parts after those.
  const std::uint32_t low = shared_address(tiles.bytes[stage] + part_offset(lane % 8, lane / 8));
  const std::uint32_t high =
      shared_address(tiles.bytes[stage] + part_offset(lane % 8, lane / 8 + 4));
#pragma unroll 2
  for (int n = 0; n < kTileColumns; n += 8) {
    std::uint32_t b_low[4], b_high[4];
    load_matrices(b_low, low + n * kLength);
    load_matrices(b_high, high + n * kLength);
    std::int32_t sums[kRowTiles][4] = {};
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) multiply_bytes(sums[i], a.part[i][0], b_low[0], b_low[1]);
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) multiply_bytes(sums[i], a.part[i][1], b_low[2], b_low[3]);
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) multiply_bytes(sums[i], a.part[i][2], b_high[0], b_high[1]);
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) multiply_bytes(sums[i], a.part[i][3], b_high[2], b_high[3]);

    const int2 base = *reinterpret_cast<const int2*>(&tiles.base[stage][n + lane % 4 * 2]);
    std::int32_t key0[kLaneRows], key1[kLaneRows];  // for the two columns
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r) {
      const std::int32_t sum0 = sums[r / 2][r % 2 * 2], sum1 = sums[r / 2][r % 2 * 2 + 1];
      rows.enter(r, key_of(base.x, sum0), key_of(base.y, sum1));
      key0[r] = key_of(a_base[r], sum0);
      key1[r] = key_of(a_base[r], sum1);
    }
    if constexpr (columns) {
      std::int32_t least0 = min(key0[0], key0[1]), least1 = min(key1[0], key1[1]);
#pragma unroll
      for (int r = 2; r < kLaneRows; r += 2) {
        least0 = smallest(least0, key0[r], key0[r + 1]);
        least1 = smallest(least1, key1[r], key1[r + 1]);
      }
      const std::int32_t least = join_columns(least0, least1, lane);
      if (lane < 8) tiles.column[warp][n + lane % 4 * 2 + lane / 4] = least;
    }
  }
}

// Each lane's own rows after join_lanes(): the four lanes that share 8 rows take 2 each.
constexpr int kOwnRows = kLaneRows / 4;

// Widens the keys of a chunk and inserts them into the neighbours of the lane's own rows.
__device__ void leave_chunk(RowKeys& keys, int first_column, int lane, Nearest (&own)[kOwnRows]) {
  keys.join_lanes();
#pragma unroll
  for (int j = 0; j < kOwnRows; ++j) {
    std::int32_t best = keys.best[j], second = keys.second[j];
#pragma unroll
    for (int q = 1; q < 4; ++q) {
      if (lane % 4 == q) {
        best = keys.best[kOwnRows * q + j];
        second = keys.second[kOwnRows * q + j];
      }
    }
    enter_neighbour(own[j], key_value(best), first_column + key_index(best));
    if (second != kNoKey) {
      enter_neighbour(own[j], key_value(second), first_column + key_index(second));
    }
  }
  keys.clear();
}

template <bool columns>
__global__ void __launch_bounds__(kThreads, kSearchBlocksPerProcessor)
    search_kernel(DeviceTable table, int chunks_per_walk) {
  __shared__ SharedTiles tiles;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const DevicePair& pair = item_of(table.pairs, table.pair_count, blockIdx.x,
                                   [](const DevicePair& p) { return p.first_block; });
  const std::uint32_t block = blockIdx.x - pair.first_block;
  const std::uint32_t split = block % pair.splits;
  const int first_row = int(block / pair.splits) * kBlockRows;
  const int walk = chunks_per_walk * kChunkColumns;
  const int first = int(split) * walk, last = min(pair.b_count, first + walk);
  const int tile_count = divide_up(last - first, kTileColumns);

  begin_tile(tiles.bytes[0], pair.a, first_row, pair.a_count);
  begin_tile(tiles.bytes[1], pair.a, first_row + kTileColumns, pair.a_count);
  end_copy_group();
  std::int32_t a_base[kLaneRows];
#pragma unroll
  for (int r = 0; r < kLaneRows; ++r) {
    a_base[r] = pair.a_base[first_row + warp * kWarpRows + lane_row(r, lane)];
  }
  wait_for_copies<0>();
  __syncthreads();
  RowBytes a;
  a.load(tiles, warp, lane);
  __syncthreads();

  auto begin = [&](int tile) {
    const int column = first + tile * kTileColumns, stage = tile % 2;
    begin_tile(tiles.bytes[stage], pair.b, column, pair.b_count);
    begin_copy<4>(&tiles.base[stage][threadIdx.x], pair.b_base + column + threadIdx.x, true);
    end_copy_group();
  };
  Nearest own[kOwnRows];
  RowKeys keys;
  keys.clear();
  begin(0);
  for (int tile = 0; tile < tile_count; ++tile) {
    if (tile + 1 < tile_count) {
      begin(tile + 1);
      wait_for_copies<1>();
    } else {
      wait_for_copies<0>();
    }
    __syncthreads();
    search_tile<columns>(tiles, tile % 2, a, a_base, keys, warp, lane);
    const int column = first + tile * kTileColumns + int(threadIdx.x);
    const std::int32_t norm = key_value(tiles.base[tile % 2][threadIdx.x]);
    __syncthreads();  // the tile may be overwritten, and the column keys are complete
    if constexpr (columns) {
      const std::int32_t least =
          min(min(tiles.column[0][threadIdx.x], tiles.column[1][threadIdx.x]),
              min(tiles.column[2][threadIdx.x], tiles.column[3][threadIdx.x]));
      if (column < last) {
        atomicMin(reinterpret_cast<unsigned long long*>(pair.columns + column),
                  static_cast<unsigned long long>(
                      column_best(key_value(least) + norm, first_row + key_index(least))));
      }
    }
    if (tile % 2 == 1 || tile + 1 == tile_count) {
      leave_chunk(keys, first + tile / 2 * kChunkColumns, lane, own);
    }
  }
#pragma unroll
  for (int j = 0; j < kOwnRows; ++j) {
    const int row = first_row + warp * kWarpRows + lane_row(lane % 4 * kOwnRows + j, lane);
    if (row < pair.a_count) pair.rows[std::size_t(split) * pair.a_count + row] = own[j];
  }
}

}  // namespace

void enqueue_search(cudaStream_t stream, DeviceTable table, std::uint32_t blocks,
                    int chunks_per_walk, bool mutual) {
  if (mutual) {
    search_kernel<true><<<blocks, kThreads, 0, stream>>>(table, chunks_per_walk);
  } else {
    search_kernel<false><<<blocks, kThreads, 0, stream>>>(table, chunks_per_walk);
  }
  cuda_check_launch("searching neighbours");
}

}  // namespace cornea::match
