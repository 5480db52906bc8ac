// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/foagdd/foagdd_rows.h"

#include <algorithm>
#include <limits>

#include "cornea/core/simd.h"

namespace cornea::foagdd::CORNEA_ISA {
namespace {

using namespace core;

constexpr int kTensorBlock = 32;
// The block with 3 more columns on each side, rounded up to a multiple of 8.
constexpr int kTensorColumns = kTensorBlock + 8;
constexpr int kWindowRows = 2 * kFoagddDiscRadius + 1;

// A compact copy of the derivatives around a block of columns: row k, direction d, column x - 3.
template <class T, std::size_t rows>
inline void copy_window(const FoagddRows<rows>& window, int n, int begin, int columns, T* to) {
  for (std::size_t k = 0; k < rows; ++k) {
    for (int d = 0; d < n; ++d) {
      const float* __restrict from = window[k][d] + begin - kFoagddDiscRadius;
      T* __restrict row = to + (k * n + d) * kTensorColumns;
      for (int x = 0; x < columns; ++x) row[x] = static_cast<T>(from[x]);
    }
  }
}

// Column sums of the products of all pairs of directions: sums[(pair * 3 + k) * kTensorColumns +
// x]. A disc has columns of 3, 5 and 7 rows; the union of a cell's discs has columns of 4, 6 and 8.
template <int rows, class T, class N>
inline void column_sums(const T* window, N n, int columns, T* sums) {
  // From the middle outwards: a disc has one row there, a cell has two.
  constexpr int kUpper = 3, kLower = rows - 1 - kUpper;
  for (int x = 0; x < columns; x += kLanes<T>) {
    auto load = [&](int k, int d) { return load_pack(window + (k * n + d) * kTensorColumns + x); };
    for (int i = 0; i < n; ++i) {
      Pack<T> di[rows];
      for (int k = 0; k < rows; ++k) di[k] = load(k, i);
      T* out = sums + std::size_t(foagdd_tensor_index(i, 0)) * 3 * kTensorColumns + x;
      for (int j = 0; j <= i; ++j, out += 3 * kTensorColumns) {
        Pack<T> sum = di[kUpper] * load(kUpper, j);
        auto add = [&](int k) { sum = fused(di[k], load(k, j), sum); };
        if constexpr (kLower != kUpper) add(kLower);
        for (int ring = 1; ring <= 3; ++ring) {
          add(kUpper - ring);
          add(kLower + ring);
          store_pack(out + (ring - 1) * kTensorColumns, sum);
        }
      }
    }
  }
}

// For cells all even columns are stored first and then the odd ones, so that the columns of
// neighbouring cells are contiguous.
constexpr int kOddColumns = kTensorColumns / 2;
inline void copy_cell_window(const FoagddCellWindow& window, int n, int begin, float* to) {
  for (std::size_t k = 0; k < window.size(); ++k) {
    for (int d = 0; d < n; ++d) {
      const float* __restrict from = window[k][d] + begin - kFoagddDiscRadius;
      float* __restrict row = to + (k * n + d) * kTensorColumns;
      for (int c = 0; c < kOddColumns; ++c) {
        row[c] = from[2 * c];
        row[kOddColumns + c] = from[2 * c + 1];
      }
    }
  }
}

// Sums the columns over the union of a cell's four discs.
inline void cell_sums(const float* columns, int pairs, int cells, float* tensor) {
  for (int pair = 0; pair < pairs; ++pair) {
    const float* four = columns + std::size_t(pair) * 3 * kTensorColumns;
    const float *six = four + kTensorColumns, *eight = six + kTensorColumns;
    float* out = tensor + std::size_t(pair) * kTensorBlock;
    for (int c = 0; c < cells; c += kLanes<float>) {
      auto even = [&](const float* from, int dc) { return load_pack(from + c + dc); };
      auto odd = [&](const float* from, int dc) { return load_pack(from + kOddColumns + c + dc); };
      const Pack<float> inner = (even(eight, 1) + odd(eight, 1)) + (even(eight, 2) + odd(eight, 2));
      const Pack<float> outer = (odd(six, 0) + even(six, 3)) + (even(four, 0) + odd(four, 3));
      store_pack(out + c, inner + outer);
    }
  }
}

// Sums the columns over the disc, from left to right.
template <class T>
inline void disc_sums(const T* columns, int pairs, int count, T* tensor) {
  for (int pair = 0; pair < pairs; ++pair) {
    const T* three = columns + std::size_t(pair) * 3 * kTensorColumns + kFoagddDiscRadius;
    const T *five = three + kTensorColumns, *seven = five + kTensorColumns;
    T* out = tensor + std::size_t(pair) * kTensorBlock;
    for (int x = 0; x < count; x += kLanes<T>) {
      auto at = [&](const T* from, int dx) { return load_pack(from + x + dx); };
      Pack<T> sum = at(three, -3) + at(five, -2);
      sum += at(seven, -1);
      sum += at(seven, 0);
      sum += at(seven, 1);
      sum += at(five, 2);
      sum += at(three, 3);
      store_pack(out + x, sum);
    }
  }
}

constexpr std::integral_constant<int, 0> kFirst{};
constexpr std::integral_constant<int, 8> kEight{};

// The product of the pivots of LDL' of tensor + shift, divided by the trace. Pivots that are not
// positive are replaced by `least`.
template <class N>
inline Pack<float> pivot_product(const float* tensor, N n, Pack<float> shift,
                                 Pack<float> inverse_trace, float least) {
  constexpr bool kFixed = !std::is_same_v<N, int>;
  constexpr int kMost = [] {
    if constexpr (kFixed) return int(N::value);
    return kFoagddMostDirections;
  }();
  Pack<float> m[foagdd_tensor_size(kMost)];
  each_index(kFirst, n, [&](auto i) {
    each_index(kFirst, next_index(i), [&](auto j) {
      const int at = foagdd_tensor_index(i, j);
      m[at] = load_pack(tensor + at * kTensorBlock);
    });
    m[foagdd_tensor_index(i, i)] += shift;
  });
  Pack<float> product = inverse_trace;
  each_index(kFirst, n, [&](auto k) {
    Pack<float> pivot = m[foagdd_tensor_index(k, k)];
    pivot = pivot > 0 ? pivot : pack_of(least);
    product *= pivot;
    const Pack<float> inverse = 1.0f / pivot;
    each_index(next_index(k), n, [&](auto j) {
      const Pack<float> l = m[foagdd_tensor_index(j, k)] * inverse;
      each_index(j, n, [&](auto i) {
        Pack<float>& entry = m[foagdd_tensor_index(i, j)];
        entry = fused(-l, m[foagdd_tensor_index(i, k)], entry);
      });
    });
  });
  return product;
}

inline bool any_above(Pack<float> v, float threshold) {
  bool any = false;
  for (int i = 0; i < kLanes<float>; ++i) any |= !(v[i] <= threshold);
  return any;
}

// The trace, at least the smallest normal number, so that its reciprocal is finite.
template <class N>
inline Pack<float> trace_of(const float* tensor, N n) {
  constexpr float kLeast = std::numeric_limits<float>::min();
  Pack<float> trace = {};
  for (int k = 0; k < n; ++k) trace += load_pack(tensor + foagdd_tensor_index(k, k) * kTensorBlock);
  return trace > kLeast ? trace : pack_of(kLeast);
}

template <class N>
inline void bound_block(const float* tensor, N n, int count, float threshold, float* upper,
                        float* lower) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::min();
  for (int x = 0; x < count; x += kLanes<float>) {
    const Pack<float> trace = trace_of(tensor + x, n);
    const Pack<float> shift = trace * foagdd_screen_shift(n), inverse = 1.0f / trace;
    Pack<float> up = pivot_product(tensor + x, n, shift, inverse, kLeast);
    up = fused(up, pack_of(1 + kFoagddScreenSlack), pack_of(kLeast));
    Pack<float> down = {};
    if (any_above(up, threshold)) {
      down = pivot_product(tensor + x, n, -shift, inverse, 0.0f);
      down *= 1 - kFoagddScreenSlack;
      down = down > 0 ? down : Pack<float>{};  // NaN where a pivot was zero
      down = down < kLargest ? down : pack_of(kLargest);
    }
    store_pack(upper + x, up);
    store_pack(lower + x, down);
  }
}

template <class N>
inline void open_cell_block(const float* tensor, N n, int cells, float threshold,
                            std::uint8_t* open) {
  constexpr float kLeast = std::numeric_limits<float>::min();
  for (int c = 0; c < cells; c += kLanes<float>) {
    const Pack<float> trace = trace_of(tensor + c, n);
    Pack<float> up =
        pivot_product(tensor + c, n, trace * foagdd_screen_shift(n), 1.0f / trace, kLeast);
    up = fused(up, pack_of(1 + kFoagddScreenSlack), pack_of(kLeast));
    for (int i = 0; i < std::min(kLanes<float>, cells - c); ++i)
      open[c + i] = !(up[i] <= threshold);
  }
}

template <class N>
inline void open_cells(const FoagddCellWindow& window, N n, int count, float threshold,
                       float* block, float* columns, float* tensor, std::uint8_t* open) {
  for (int begin = 0; begin < count; begin += kTensorBlock) {
    const int cells = (std::min(kTensorBlock, count - begin) + 1) / 2;
    copy_cell_window(window, n, begin, block);
    column_sums<kWindowRows + 1>(block, n, kTensorColumns, columns);
    cell_sums(columns, foagdd_tensor_size(n), cells, tensor);
    open_cell_block(tensor, n, cells, threshold, open + begin / 2);
  }
}

// Columns are processed or skipped in groups of eight; up to kTensorBlock columns are processed
// together.
constexpr int kGroup = 8;
inline bool any_open(const std::uint8_t* open, int begin, int count) {
  bool any = false;
  for (int x = begin; x < std::min(begin + kGroup, count); x += 2) any |= open[x / 2] != 0;
  return any;
}

template <class N>
inline void bounds(const FoagddWindow& window, N n, int count, float threshold,
                   const std::uint8_t* open, float* block, float* columns, float* tensor,
                   float* upper, float* lower) {
  for (int begin = 0; begin < count;) {
    if (!any_open(open, begin, count)) {
      std::fill_n(upper + begin, kGroup, 0.0f);
      std::fill_n(lower + begin, kGroup, 0.0f);
      begin += kGroup;
      continue;
    }
    int width = kGroup;
    for (int more = kGroup; more < kTensorBlock && begin + more < count; more += kGroup) {
      if (any_open(open, begin + more, count)) width = more + kGroup;
    }
    width = std::min(width, count - begin);
    copy_window(window, n, begin, width + 2 * kFoagddDiscRadius, block);
    column_sums<kWindowRows>(block, n, width + 2 * kFoagddDiscRadius, columns);
    disc_sums(columns, foagdd_tensor_size(n), width, tensor);
    bound_block(tensor, n, width, threshold, upper + begin, lower + begin);
    begin += width;
  }
}

inline void measure_block(const double* tensor, int directions, int count, double* measure) {
  with_directions(directions, [&](auto n) {
    double one[foagdd_tensor_size(n())];
    for (int x = 0; x < count; ++x) {
      for (int k = 0; k < foagdd_tensor_size(n()); ++k) one[k] = tensor[k * kTensorBlock + x];
      measure[x] = foagdd_measure<n()>(one);
    }
  });
}

template <class N>
inline void measures(const FoagddWindow& window, N n, int count, double* block, double* columns,
                     double* tensor, double* measure) {
  for (int begin = 0; begin < count; begin += kTensorBlock) {
    const int width = std::min(kTensorBlock, count - begin);
    copy_window(window, n, begin, width + 2 * kFoagddDiscRadius, block);
    column_sums<kWindowRows>(block, n, width + 2 * kFoagddDiscRadius, columns);
    disc_sums(columns, foagdd_tensor_size(n), width, tensor);
    measure_block(tensor, n, width, measure + begin);
  }
}

CORNEA_FLATTEN void open_cells_flat(const FoagddCellWindow& window, int n, int count,
                                    float threshold, float* block, float* columns, float* tensor,
                                    std::uint8_t* open) {
  if (n == kEight) {
    open_cells(window, kEight, count, threshold, block, columns, tensor, open);
  } else {
    open_cells(window, n, count, threshold, block, columns, tensor, open);
  }
}
CORNEA_FLATTEN void bounds_flat(const FoagddWindow& window, int n, int count, float threshold,
                                const std::uint8_t* open, float* block, float* columns,
                                float* tensor, float* upper, float* lower) {
  if (n == kEight) {
    bounds(window, kEight, count, threshold, open, block, columns, tensor, upper, lower);
  } else {
    bounds(window, n, count, threshold, open, block, columns, tensor, upper, lower);
  }
}
CORNEA_FLATTEN void measures_flat(const FoagddWindow& window, int n, int count, double* block,
                                  double* columns, double* tensor, double* measure) {
  if (n == kEight) {
    measures(window, kEight, count, block, columns, tensor, measure);
  } else {
    measures(window, n, count, block, columns, tensor, measure);
  }
}

// Allocates the memory for a block of columns.
template <class T>
void reserve(FoagddBlock<T>& block, int n) {
  const std::size_t pairs = foagdd_tensor_size(n);
  block.window.resize(std::size_t(kWindowRows + 1) * n * kTensorColumns + kFoagddSlack);
  block.columns.resize(pairs * 3 * kTensorColumns + kFoagddSlack);
  block.tensor.resize(pairs * kTensorBlock);
}

}  // namespace

void foagdd_open_cells(const FoagddCellWindow& window, int directions, int count, float threshold,
                       FoagddScratch& scratch, std::uint8_t* open) {
  FoagddBlock<float>& block = scratch.screen;
  reserve(block, directions);
  open_cells_flat(window, directions, count, threshold, block.window.data(), block.columns.data(),
                  block.tensor.data(), open);
}

void foagdd_bounds(const FoagddWindow& window, int directions, int count, float threshold,
                   const std::uint8_t* open, FoagddScratch& scratch, float* upper, float* lower) {
  FoagddBlock<float>& block = scratch.screen;
  reserve(block, directions);
  bounds_flat(window, directions, count, threshold, open, block.window.data(), block.columns.data(),
              block.tensor.data(), upper, lower);
}

void foagdd_measures(const FoagddWindow& window, int directions, int count, FoagddScratch& scratch,
                     double* measure) {
  FoagddBlock<double>& block = scratch.exact;
  reserve(block, directions);
  measures_flat(window, directions, count, block.window.data(), block.columns.data(),
                block.tensor.data(), measure);
}

}  // namespace cornea::foagdd::CORNEA_ISA
