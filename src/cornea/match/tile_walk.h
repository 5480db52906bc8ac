// SPDX-License-Identifier: Apache-2.0
// For the tile_*.cc files only: the common code of the CPU's dot-product kernels. Everything is in
// an unnamed namespace and calls no inline function from elsewhere: each file compiles its own copy
// for its own instruction set, and the linker must not use that copy for another file.
//
// A kernel K holds kRows x kColumns products at a time as kRowVectors x kColumnVectors vectors of
// 32-bit lanes, each of which is a.b of one row and one column, as K defines:
//   spread_rows(p)[l], spread_columns(p)[l]:  p[row], p[column] of lane l
// Its descriptors are packed in groups of kGroup numbers of type Packed. With kSigned its columns
// hold b - 128, and products start from 128 times a row's sum: a.b = a.(b - 128) + 128 sum(a).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornea/core/features.h"
#include "cornea/match/match_math.h"
#include "cornea/match/tile_kernel.h"

namespace cornea::match {
namespace {

constexpr int kLength = Features::kLength;

inline std::int32_t smaller(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
inline std::int32_t larger(std::int32_t a, std::int32_t b) { return a < b ? b : a; }

// Packs panels: the first `group` bytes of every descriptor, then the next ones, and so on. Bytes
// are XORed with `flip` and widened to Element. Padding is descriptors of zeros.
template <class Element, int group, int descriptors, std::uint8_t flip = 0>
inline void pack_panel(const std::uint8_t* from, int count, std::uint8_t* to_bytes) {
  Element* to = reinterpret_cast<Element*>(to_bytes);
  for (int i = 0; i < descriptors; ++i) {
    const std::uint8_t none[kLength] = {};
    const std::uint8_t* bytes = i < count ? from + i * kLength : none;
    for (int g = 0; g < kLength / group; ++g) {
      std::uint8_t part[group];
      __builtin_memcpy(part, bytes + g * group, group);
      Element widened[group];
      for (int j = 0; j < group; ++j) {
        widened[j] = static_cast<Element>(static_cast<std::uint8_t>(part[j] ^ flip));
      }
      __builtin_memcpy(to + (g * descriptors + i) * group, widened, sizeof widened);
    }
  }
}

template <class K>
constexpr std::size_t kPackedBytes = kLength * sizeof(typename K::Packed);  // per descriptor

template <class K>
inline void pack_rows(const std::uint8_t* from, int count, std::uint8_t* to, std::int32_t* offset) {
  pack_panel<typename K::Packed, K::kGroup, K::kRows>(from, count, to);
  for (int i = 0; i < K::kRows; ++i) {
    std::int32_t sum = 0;
    for (int k = 0; K::kSigned && k < kLength; ++k) sum += i < count ? from[i * kLength + k] : 0;
    offset[i] = 128 * sum;
  }
}

template <class K>
inline void pack_columns(const std::uint8_t* from, int count, std::uint8_t* to) {
  pack_panel<typename K::Packed, K::kGroup, K::kColumns, K::kSigned ? 0x80 : 0>(from, count, to);
}

// The two smallest keys over all lanes of a row. A vector may hold lanes of several rows: those of
// row i start at i * kLanesPerRow.
template <class K>
inline void fold_row(typename K::Vector best, typename K::Vector second, std::int32_t* best_out,
                     std::int32_t* second_out) {
  constexpr int kLanesPerRow = K::kLanes / K::kRowsPerVector;
  alignas(64) std::int32_t first[K::kLanes], next[K::kLanes];
  K::store(first, best);
  K::store(next, second);
  for (int row = 0; row < K::kRowsPerVector; ++row) {
    std::int32_t *f = first + row * kLanesPerRow, *n = next + row * kLanesPerRow;
    for (int half = kLanesPerRow / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) {
        const std::int32_t other = f[i + half];
        n[i] = smaller(larger(f[i], other), smaller(n[i], n[i + half]));
        f[i] = smaller(f[i], other);
      }
    }
    best_out[row] = f[0];
    second_out[row] = n[0];
  }
}

// One panel of rows against one of columns: products, then keys into the minima. Row minima stay in
// registers or in L1; column minima are in `columns`, one vector per vector of columns.
template <class K>
inline void enter_block(const std::uint8_t* a, const std::int32_t* a_offset,
                        const typename K::Vector* a_base, const std::uint8_t* b,
                        const std::int32_t* b_base, typename K::Vector* best,
                        typename K::Vector* second, std::int32_t* columns) {
  using Vector = typename K::Vector;
  Vector products[K::kRowVectors][K::kColumnVectors];
  K::multiply(a, a_offset, b, products);
  for (int c = 0; c < K::kColumnVectors; ++c) {
    const Vector column_base = K::spread_columns(b_base + c * K::kColumnsPerVector);
    Vector column = K::load(columns + c * K::kLanes);
    for (int r = 0; r < K::kRowVectors; ++r) {
      const Vector key = K::minus_scaled(column_base, products[r][c]);
      const Vector later = K::max(best[r], key);
      best[r] = K::min(best[r], key);
      second[r] = K::min(second[r], later);
      column = K::min(column, K::minus_scaled(a_base[r], products[r][c]));
    }
    K::store(columns + c * K::kLanes, column);
  }
}

template <class K>
inline void walk_tile(const TileTask& t) {
  using Vector = typename K::Vector;
  constexpr int kRowsPerVector = K::kRowsPerVector;
  constexpr int kColumnLanes = K::kColumnVectors * K::kLanes;  // per panel
  alignas(64) std::int32_t columns[kKeyIndices / K::kColumns * kColumnLanes];
  for (int i = 0; i < t.b_panels * kColumnLanes; ++i) columns[i] = kNoKey;
  for (int p = 0; p < t.a_panels; ++p) {
    Vector best[K::kRowVectors], second[K::kRowVectors], a_base[K::kRowVectors];
    for (int r = 0; r < K::kRowVectors; ++r) {
      best[r] = second[r] = K::same(kNoKey);
      a_base[r] = K::spread_rows(t.a_base + p * K::kRows + r * kRowsPerVector);
    }
    for (int q = 0; q < t.b_panels; ++q) {
      enter_block<K>(t.a + std::size_t(p) * K::kRows * kPackedBytes<K>, t.a_offset + p * K::kRows,
                     a_base, t.b + std::size_t(q) * K::kColumns * kPackedBytes<K>,
                     t.b_base + q * K::kColumns, best, second, columns + q * kColumnLanes);
    }
    for (int r = 0; r < K::kRowVectors; ++r) {
      const int row = p * K::kRows + r * kRowsPerVector;
      fold_row<K>(best[r], second[r], t.best + row, t.second + row);
    }
  }
  // The lanes of one column are kColumnsPerVector apart in its vector.
  for (int i = 0; i < t.b_panels * K::kColumns; ++i) {
    const std::int32_t* lanes = columns + i / K::kColumnsPerVector * K::kLanes;
    std::int32_t smallest = kNoKey;
    for (int l = i % K::kColumnsPerVector; l < K::kLanes; l += K::kColumnsPerVector) {
      smallest = smaller(smallest, lanes[l]);
    }
    t.column[i] = smallest;
  }
}

template <class K>
constexpr TileKernel tile_kernel_of(const char* name, bool (*runs_here)()) {
  return {name,      K::kRows,     K::kColumns,     kPackedBytes<K>,
          runs_here, pack_rows<K>, pack_columns<K>, walk_tile<K>};
}

}  // namespace
}  // namespace cornea::match
