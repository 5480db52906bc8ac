// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cornea/core/simd.h"
#include "cornea/detect/foagdd/foagdd_rows.h"

namespace cornea::foagdd::CORNEA_ISA {
namespace {

using namespace core;

// Columns that are processed together, so that all their differences stay in L1.
constexpr int kDerivativeBlock = 256;

// Sums and differences of opposite rows: odd(a) = above - below, even(a) = above + below.
inline void difference_rows(const float* const* rows, int radius, int begin, int columns,
                            float* odd, float* even, int stride) {
  for (int a = 0; a <= radius; ++a) {
    const float* __restrict above = rows[radius - a] + begin;
    const float* __restrict below = rows[radius + a] + begin;
    float* __restrict r = odd + std::ptrdiff_t(a) * stride;
    float* __restrict e = even + std::ptrdiff_t(a) * stride;
    for (int x = 0; x < columns; ++x) {
      r[x] = above[x] - below[x];
      e[x] = above[x] + below[x];
    }
  }
}

// The derivatives of one or two vectors of columns from x on. Two are enough independent sums to
// keep the multipliers busy, and few enough to stay in registers. fixed_directions = 0 means that
// the number of directions is known only at run time.
template <int fixed_directions, int packs>
inline void sum_products_at(const FoagddBank& bank, const float* odd, const float* even, int stride,
                            int x, float* const* out) {
  constexpr int kMost = fixed_directions ? fixed_directions : kFoagddMostDirections;
  // Eight weights fill two NEON vectors, whose lanes can be operands of a multiplication.
  constexpr bool kWeightsInLanes = fixed_directions == 8 && kLanes<float> == 4;
  const int n = fixed_directions ? fixed_directions : bank.directions;
  const int odds = (n + 1) / 2, evens = n / 2;
  Pack<float> p[(kMost + 1) / 2][packs] = {}, q[kMost / 2][packs] = {};
  const float* weight = bank.weights.data();
  for (int a = 0; a <= bank.radius; ++a) {
    const float* r = odd + std::ptrdiff_t(a) * stride + bank.radius + x;
    const float* e = even + std::ptrdiff_t(a) * stride + bank.radius + x;
    for (int b = 0; b <= bank.half_widths[a]; ++b, weight += n) {
      Pack<float> s[packs], t[packs];
      for (int k = 0; k < packs; ++k) {
        const int at = k * kLanes<float>;
        s[k] = load_pack(r + at - b) + load_pack(r + at + b);
        t[k] = load_pack(e + at - b) - load_pack(e + at + b);
      }
      if constexpr (kWeightsInLanes) {
        const Pack<float> of_s = load_pack(weight), of_t = load_pack(weight + 4);
        for (int d = 0; d < 4; ++d) {
          for (int k = 0; k < packs; ++k) p[d][k] = fused(pack_of(of_s[d]), s[k], p[d][k]);
          for (int k = 0; k < packs; ++k) q[d][k] = fused(pack_of(of_t[d]), t[k], q[d][k]);
        }
      } else {
        for (int d = 0; d < odds; ++d) {
          for (int k = 0; k < packs; ++k) p[d][k] = fused(pack_of(weight[d]), s[k], p[d][k]);
        }
        for (int d = 0; d < evens; ++d) {
          for (int k = 0; k < packs; ++k) {
            q[d][k] = fused(pack_of(weight[odds + d]), t[k], q[d][k]);
          }
        }
      }
    }
  }
  auto store_absolute = [&](int d, int k, Pack<float> v) {
    store_pack(out[d] + x + k * kLanes<float>, v < 0 ? -v : v);
  };
  for (int k = 0; k < packs; ++k) {
    store_absolute(0, k, p[0][k]);
    for (int d = 1; d < odds; ++d) {
      store_absolute(d, k, p[d][k] + q[d - 1][k]);
      store_absolute(n - d, k, p[d][k] - q[d - 1][k]);
    }
    if (n % 2 == 0) store_absolute(n / 2, k, q[evens - 1][k]);
  }
}

template <int fixed_directions>
inline void sum_products(const FoagddBank& bank, const float* odd, const float* even, int stride,
                         int columns, float* const* out) {
  int x = 0;
  for (; x + kLanes<float> < columns; x += 2 * kLanes<float>) {
    sum_products_at<fixed_directions, 2>(bank, odd, even, stride, x, out);
  }
  if (x < columns) sum_products_at<fixed_directions, 1>(bank, odd, even, stride, x, out);
}

inline void derivatives(const FoagddBank& bank, const float* const* rows, int count,
                        float* differences, float* const* out) {
  const int stride = kDerivativeBlock + 2 * bank.radius + kFoagddSlack;
  float* odd = differences;
  float* even = differences + std::size_t(bank.radius + 1) * stride;
  float* block_out[kFoagddMostDirections];
  for (int begin = 0; begin < count; begin += kDerivativeBlock) {
    const int columns = std::min(kDerivativeBlock, count - begin);
    difference_rows(rows, bank.radius, begin - bank.radius, columns + 2 * bank.radius, odd, even,
                    stride);
    for (int d = 0; d < bank.directions; ++d) block_out[d] = out[d] + begin;
    if (bank.directions == 8) {
      sum_products<8>(bank, odd, even, stride, columns, block_out);
    } else {
      sum_products<0>(bank, odd, even, stride, columns, block_out);
    }
  }
}

}  // namespace

void foagdd_derivatives(const FoagddBank& bank, const float* const* rows, int count,
                        FoagddScratch& scratch, float* const* out) {
  const std::size_t stride = kDerivativeBlock + 2 * bank.radius + kFoagddSlack;
  scratch.differences.resize(2 * (bank.radius + 1) * stride);
  derivatives(bank, rows, count, scratch.differences.data(), out);
}

}  // namespace cornea::foagdd::CORNEA_ISA
