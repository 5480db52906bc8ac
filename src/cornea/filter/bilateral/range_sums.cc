// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cornea/filter/bilateral/range_rows.h"
#include "cornea/filter/bilateral/weight_pack.h"

namespace cornea::bilateral::CORNEA_ISA {

using namespace core;

// Each weight serves both pixels of a pair: only the half of the window that follows a pixel in
// reading order is visited. The pixel's own sums stay in registers, its partners' sums in memory.
// The window is traversed column by column, each downwards, so that values just written are not
// read again at once; columns go from right to left, so that the contributions to a pixel arrive in
// reading order, whatever the width of a block.
void bilateral_pairs(const PaddedImage& image, int begin, int end, int radius, int reach,
                     const float* exponents, PaddedImage& sums, PaddedImage& weights) {
  const int side = 2 * radius + 1;
  for (int y = begin; y < end; ++y) {
    for (int x = 0; x < image.width(); x += kSlack) {
      Floats own[kAtOnce], sum[kAtOnce], weight[kAtOnce];
      for (int k = 0; k < kAtOnce; ++k) {
        own[k] = load_pack(image.row(y) + x + k * kWidth);
        sum[k] = weight[k] = Floats{};
      }
      for (int m = radius; m >= -radius; --m) {
        const int first = m > 0 ? 0 : 1;
        const float* exponent = exponents + (reach + first) * side + radius + m;
        const float* other = image.row(y + first) + x + m;
        float* other_sum = sums.row(y + first - begin) + x + m;
        float* other_weight = weights.row(y + first - begin) + x + m;
        for (int n = first; n <= reach; ++n) {
          const Floats spatial = pack_of(*exponent);
          // All loads come before all stores: a processor that compares only the low bits of
          // addresses (4K aliasing) would otherwise stall.
          Floats d[kAtOnce], new_sum[kAtOnce], new_weight[kAtOnce];
#pragma GCC unroll 8
          for (int k = 0; k < kAtOnce; ++k) {
            d[k] = load_pack(other + k * kWidth) - own[k];
            new_sum[k] = load_pack(other_sum + k * kWidth);
            new_weight[k] = load_pack(other_weight + k * kWidth);
          }
#pragma GCC unroll 8
          for (int k = 0; k < kAtOnce; ++k) {
            const Floats w = weight_pack(d[k], spatial);
            weight[k] += w;
            sum[k] = fused(w, d[k], sum[k]);
            new_weight[k] += w;
            new_sum[k] = fused(-w, d[k], new_sum[k]);
          }
#pragma GCC unroll 8
          for (int k = 0; k < kAtOnce; ++k) {
            store_pack(other_weight + k * kWidth, new_weight[k]);
            store_pack(other_sum + k * kWidth, new_sum[k]);
          }
          exponent += side;
          other += image.stride();
          other_sum += sums.stride();
          other_weight += weights.stride();
        }
      }
      for (int k = 0; k < kAtOnce; ++k) {
        float *my_sum = sums.row(y - begin) + x + k * kWidth,
              *my_weight = weights.row(y - begin) + x + k * kWidth;
        store_pack(my_sum, load_pack(my_sum) + sum[k]);
        store_pack(my_weight, load_pack(my_weight) + weight[k]);
      }
    }
  }
}

void bilateral_row_of_two(const PaddedImage& image, const PaddedImage& first,
                          const PaddedImage& second, int y, int radius, const float* exponents,
                          float range, float* first_out, float* second_out) {
  const int width = image.width();
  for (int x = 0; x < width; x += kWidth) {
    const Floats own = load_pack(image.row(y) + x);
    Floats weights{}, first_sum{}, second_sum{};
    const float* exponent = exponents;
    for (int n = -radius; n <= radius; ++n) {
      for (int m = -radius; m <= radius; ++m, ++exponent) {
        const Floats scaled = (load_pack(image.row(y + n) + x + m) - own) * range;
        const Floats w = weight_pack(scaled, pack_of(*exponent));
        weights += w;
        first_sum = fused(w, load_pack(first.row(y + n) + x + m), first_sum);
        second_sum = fused(w, load_pack(second.row(y + n) + x + m), second_sum);
      }
    }
    float results[2][kWidth];
    store_pack(results[0], first_sum / weights);
    store_pack(results[1], second_sum / weights);
    const int count = std::min(kWidth, width - x);
    std::copy_n(results[0], count, first_out + x);
    std::copy_n(results[1], count, second_out + x);
  }
}

}  // namespace cornea::bilateral::CORNEA_ISA
