// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/gaussian/gaussian_sums.h"

#include <array>
#include <type_traits>
#include <utility>

#include "cornea/core/simd.h"

namespace cornea::gaussian::CORNEA_ISA {

using namespace core;

void weighted_sum(const float* weight, int taps, const float* const* tap, int x, int width,
                  float* out) {
  // Number of vector sums that stay in registers over all taps.
  constexpr int kAtOnce = 8, kWidth = kLanes<float>;
  for (; x + kAtOnce * kWidth <= width; x += kAtOnce * kWidth) {
    Pack<float> sum[kAtOnce] = {};
    for (int k = 0; k < taps; ++k) {
      const float* from = tap[k] + x;
      const Pack<float> w = pack_of(weight[k]);
#pragma GCC unroll 8
      for (int i = 0; i < kAtOnce; ++i) sum[i] = fused(w, load_pack(from + i * kWidth), sum[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kAtOnce; ++i) store_pack(out + x + i * kWidth, sum[i]);
  }
  for (; x + kWidth <= width; x += kWidth) {
    Pack<float> sum{};
    for (int k = 0; k < taps; ++k) {
      sum = fused(pack_of(weight[k]), load_pack(tap[k] + x), sum);
    }
    store_pack(out + x, sum);
  }
  for (; x < width; ++x) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum = fused(weight[k], tap[k][x], sum);
    out[x] = sum;
  }
}

namespace {

// Blocks whose sums stay in registers while every loaded value contributes to several of them: 4
// rows x 2 vectors along y, 8 vectors of a row along x. Without a fused multiply-add instruction
// fma() is a function call, nothing stays in registers, and the plain loop is as fast.
#if defined(CORNEA_MOST_UNROLLED)
constexpr int kMostUnrolled = CORNEA_MOST_UNROLLED;
#elif defined(__FMA__) || defined(__aarch64__)
constexpr int kMostUnrolled = 16;
#else
constexpr int kMostUnrolled = 0;
#endif
constexpr int kPacksAtOnce = 2, kInARow = 8;

// out[j] = sum_k weight[k] tap[j + k]
template <int radius>
int sum_of_rows(const float* weight, const float* const* tap, int width, float* const* out) {
  constexpr int kTaps = 2 * radius + 1, kStep = kPacksAtOnce * kLanes<float>;
  int x = 0;
  for (; x + kStep <= width; x += kStep) {
    Pack<float> sum[kRowsAtOnce][kPacksAtOnce] = {};
    each_index(std::integral_constant<int, 0>{},
               std::integral_constant<int, kTaps + kRowsAtOnce - 1>{}, [&](auto m) {
                 Pack<float> value[kPacksAtOnce];
#pragma GCC unroll 8
                 for (int i = 0; i < kPacksAtOnce; ++i) {
                   value[i] = load_pack(tap[m] + x + i * kLanes<float>);
                 }
#pragma GCC unroll 8
                 for (int j = 0; j < kRowsAtOnce; ++j) {
                   const int k = m - j;
                   if (k < 0 || k >= kTaps) continue;
#pragma GCC unroll 8
                   for (int i = 0; i < kPacksAtOnce; ++i) {
                     sum[j][i] = fused(pack_of(weight[k]), value[i], sum[j][i]);
                   }
                 }
               });
#pragma GCC unroll 8
    for (int j = 0; j < kRowsAtOnce; ++j) {
#pragma GCC unroll 8
      for (int i = 0; i < kPacksAtOnce; ++i) {
        store_pack(out[j] + x + i * kLanes<float>, sum[j][i]);
      }
    }
  }
  return x;
}

// out[x] = sum_k weight[k] row[x + k]
template <int radius>
int sum_along_row(const float* weight, const float* row, int width, float* out) {
  constexpr int kTaps = 2 * radius + 1, kLane = kLanes<float>, kStep = kInARow * kLane;
  int x = 0;
  for (; x + kStep <= width; x += kStep) {
    Pack<float> sum[kInARow] = {};
    each_index(std::integral_constant<int, 0>{},
               std::integral_constant<int, kTaps + (kInARow - 1) * kLane>{}, [&](auto m) {
                 const Pack<float> value = load_pack(row + x + m);
#pragma GCC unroll 8
                 for (int j = 0; j < kInARow; ++j) {
                   const int k = m - j * kLane;
                   if (k < 0 || k >= kTaps) continue;
                   sum[j] = fused(pack_of(weight[k]), value, sum[j]);
                 }
               });
#pragma GCC unroll 8
    for (int j = 0; j < kInARow; ++j) store_pack(out + x + j * kLane, sum[j]);
  }
  return x;
}

}  // namespace

const Unrolled* unrolled(int radius) {
  static const auto table = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array<Unrolled, sizeof...(r)>{
        Unrolled{sum_of_rows<r + 1>, sum_along_row<r + 1>}...};
  }
  (std::make_integer_sequence<int, kMostUnrolled>{});
  return radius >= 1 && radius <= kMostUnrolled ? &table[radius - 1] : nullptr;
}

}  // namespace cornea::gaussian::CORNEA_ISA
