// SPDX-License-Identifier: Apache-2.0
// Random samples of correspondences, shared by CPU and CUDA: a pure function of (seed, pair,
// purpose, sample number), so that every thread count, batch and device draws the same samples.
#pragma once

#include <cstdint>

#include "cornea/core/host_device.h"
#include "cornea/core/random.h"

namespace cornea::geometry {

// Each purpose has its own stream of random numbers.
enum class Stream : std::uint64_t { samples = 0, plane = 1, parallax = 2, inner = 3 };

// Draws `size` different numbers below `count`, all sets equally likely: Floyd's algorithm (Bentley
// and Floyd, CACM 1987).
CORNEA_HD inline void draw_sample(std::uint64_t seed, std::uint64_t pair, std::uint64_t hypothesis,
                                  Stream stream, std::uint32_t count, int size,
                                  std::uint32_t* sample) {
  // Up to 2^4 numbers of four words each per hypothesis, 2^44 hypotheses and 2^16 streams.
  const std::uint64_t counter = std::uint64_t(stream) << 48 | hypothesis << 4;
  core::Philox4 words{};
  CORNEA_UNROLL
  for (int i = 0; i < size; ++i) {
    if (i % 4 == 0) words = core::philox(seed, pair, counter + i / 4);
    const std::uint32_t last = count - size + i;
    std::uint32_t drawn = core::bounded(words.v[i % 4], last + 1);
    CORNEA_UNROLL
    for (int j = 0; j < i; ++j) drawn = sample[j] == drawn ? ~0u : drawn;
    sample[i] = drawn == ~0u ? last : drawn;
  }
}

inline constexpr int kLargestSample = 32;

template <class T, int size>
struct Sample {
  T x1[size], y1[size], x2[size], y2[size];
};

}  // namespace cornea::geometry
