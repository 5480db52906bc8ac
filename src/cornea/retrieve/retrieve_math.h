// SPDX-License-Identifier: Apache-2.0
// Formulas of retrieval in fixed point: weights and logarithms have 16 fractional bits, roots 16,
// scores 30.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "cornea/core/features.h"

namespace cornea::retrieve {

inline constexpr int kLength = Features::kLength;  // bytes per descriptor, signs per code
inline constexpr int kFraction = 16;               // fractional bits
inline constexpr int kScoreFraction = 30;

__extension__ using Wide = unsigned __int128;

// floor(2^16 log2 x) for x >= 1: the integer part is the position of the highest bit; each squaring
// of the rest gives one fractional bit.
inline std::int64_t log2_fixed(std::uint64_t x) {
  const int whole = std::bit_width(x) - 1;
  std::uint64_t rest = x << (63 - whole);  // in [2^63, 2^64), which stands for 1 to 2
  std::int64_t result = whole;
  for (int bit = 0; bit < kFraction; ++bit) {
    rest = static_cast<std::uint64_t>((Wide{rest} * rest) >> 64);
    const bool above_two = rest >> 63;
    if (!above_two) rest <<= 1;
    result = 2 * result + above_two;
  }
  return result;
}

// log2((N + 1) / N_c) of a word that N_c of N images have. It is positive even if all images have
// the word, unless there are so many that it is rounded to 0.
inline std::int64_t inverse_document_frequency(std::uint64_t images, std::uint64_t with_word) {
  return log2_fixed(images + 1) - log2_fixed(with_word);
}

// The weight of two codes by their Hamming distance h: floor(2^16 s^power) for s = (128 - 2 h) /
// 128 if s > threshold / 128, else 0.
using Weights = std::array<std::int32_t, kLength + 1>;
inline Weights weights_of(int power, int threshold) {
  Weights weights{};
  for (int h = 0; h <= kLength / 2; ++h) {
    const int agreement = kLength - 2 * h;
    if (agreement <= threshold) continue;
    Wide numerator = Wide{1} << kFraction, denominator = 1;
    for (int i = 0; i < power; ++i) {
      numerator *= static_cast<unsigned>(agreement);
      denominator *= kLength;
    }
    weights[h] = static_cast<std::int32_t>(numerator / denominator);
  }
  return weights;
}

// ceil(2^16 sqrt x). Rounded up, so that no score exceeds 2^30.
inline std::uint64_t root_fixed(std::uint64_t x) {
  const Wide square = Wide{x} << (2 * kFraction);
  std::uint64_t root = 0;
  for (int bit = 48; bit >= 0; --bit) {
    const std::uint64_t larger = root | std::uint64_t{1} << bit;
    if (Wide{larger} * larger <= square) root = larger;
  }
  return Wide{root} * root < square ? root + 1 : root;
}

// floor(2^30 raw / sqrt(self1 self2)) as a fraction, numerator / denominator, so that most
// candidates need no division: a score is at least n if numerator >= n denominator. Raw sums are
// below 2^58 and roots below 2^45, so that nothing exceeds 2^128.
inline Wide score_numerator(std::int64_t raw) {
  return Wide{static_cast<std::uint64_t>(raw)} << (2 * kFraction + kScoreFraction);
}
inline Wide score_denominator(std::uint64_t root1, std::uint64_t root2) {
  return Wide{root1} * root2;
}

}  // namespace cornea::retrieve
