// SPDX-License-Identifier: Apache-2.0
#include "cornea/retrieve/codes.h"

#include <algorithm>
#include <array>

#include "cornea/core/random.h"

namespace cornea::retrieve {
namespace {

constexpr std::uint64_t kSignKey = 0x7265747269657665;  // "retrieve"

std::array<bool, kLength> draw_signs() {
  std::array<bool, kLength> negative{};
  for (int k = 0; k < kLength; ++k) negative[k] = core::philox(kSignKey, 0, k).v[0] >> 31;
  return negative;
}

Code signs_of(const std::int64_t* residual) {
  Code code{};
  for (int k = 0; k < kLength; ++k) {
    code.bits[k / 64] |= std::uint64_t(residual[k] > 0) << (k % 64);
  }
  return code;
}

}  // namespace

void rotate(std::int64_t residual[kLength]) {
  static const std::array<bool, kLength> negative = draw_signs();
  for (int k = 0; k < kLength; ++k) residual[k] = negative[k] ? -residual[k] : residual[k];
  for (int step = 1; step < kLength; step *= 2) {
    for (int first = 0; first < kLength; first += 2 * step) {
      for (int k = first; k < first + step; ++k) {
        const std::int64_t a = residual[k], b = residual[k + step];
        residual[k] = a + b;
        residual[k + step] = a - b;
      }
    }
  }
}

ImageCodes codes_of_image(const std::uint8_t* descriptors, std::span<const std::uint32_t> words,
                          const std::uint8_t* centroids) {
  // Sorted by word; the order within a word does not matter, because only sums follow.
  std::vector<std::uint64_t> sorted(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) sorted[i] = std::uint64_t{words[i]} << 32 | i;
  std::sort(sorted.begin(), sorted.end());
  ImageCodes result;
  for (std::size_t i = 0; i < sorted.size();) {
    const std::uint32_t word = sorted[i] >> 32;
    const std::uint8_t* centroid = centroids + std::size_t{word} * kLength;
    std::int64_t residual[kLength] = {};
    for (; i < sorted.size() && sorted[i] >> 32 == word; ++i) {
      const std::uint8_t* d = descriptors + (sorted[i] & 0xFFFFFFFF) * kLength;
      for (int k = 0; k < kLength; ++k) residual[k] += d[k] - centroid[k];
    }
    rotate(residual);
    result.words.push_back(word);
    result.codes.push_back(signs_of(residual));
  }
  return result;
}

}  // namespace cornea::retrieve
