// SPDX-License-Identifier: Apache-2.0
// A CPU kernel for the dot products of descriptors, selected at run time. Every kernel is a file of
// its own (tile_ummla.cc, tile_avx2.cc, ..) that is compiled for its instruction set; their common
// code is in tile_walk.h. All give the same integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cornea::match {

// At most 256 rows of A against at most 256 columns of B, both padded to whole panels. A panel is a
// few descriptors in the layout that the kernel reads.
struct TileTask {
  const std::uint8_t* a;         // panels of rows
  const std::int32_t* a_base;    // key_base() of the rows, kNoKey for padding
  const std::int32_t* a_offset;  // initial value of a row's products
  int a_panels;
  const std::uint8_t* b;  // panels of columns
  const std::int32_t* b_base;
  int b_panels;
  // Results, padding included: the two smallest keys of every row, the smallest of every column.
  std::int32_t *best, *second, *column;
};

struct TileKernel {
  const char* name;
  int rows, columns;         // per panel; both divide 256
  std::size_t packed_bytes;  // per descriptor
  bool (*runs_here)();
  // Packs `count` descriptors into one panel; if there are fewer than a panel holds, the rest is
  // zero. `offset` receives the initial value of the products of each row.
  void (*pack_rows)(const std::uint8_t* from, int count, std::uint8_t* to, std::int32_t* offset);
  void (*pack_columns)(const std::uint8_t* from, int count, std::uint8_t* to);
  void (*walk)(const TileTask& task);
};

// The kernels that this machine can run, the fastest first.
const std::vector<const TileKernel*>& tile_kernels();
// An unknown name is an error that lists the known ones.
const TileKernel& find_tile_kernel(const std::string& name);

// Null if the build is for another architecture.
const TileKernel* ummla_tile_kernel();
const TileKernel* udot_tile_kernel();
const TileKernel* avx512_vnni_tile_kernel();
const TileKernel* avx_vnni_tile_kernel();
const TileKernel* avx2_tile_kernel();
const TileKernel* portable_tile_kernel();

}  // namespace cornea::match
