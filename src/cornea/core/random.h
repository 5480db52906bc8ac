// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011). A number is a pure function of (key, counter), so that every thread count,
// batch and device draws the same ones.
#pragma once

#include <array>
#include <cstdint>

#include "cornea/core/host_device.h"

namespace cornea::core {

struct Philox4 {
  std::uint32_t v[4];
};

CORNEA_HD inline Philox4 philox(std::uint64_t key, std::uint64_t counter_high,
                                std::uint64_t counter_low) {
  std::uint32_t c0 = static_cast<std::uint32_t>(counter_low);
  std::uint32_t c1 = static_cast<std::uint32_t>(counter_low >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(counter_high);
  std::uint32_t c3 = static_cast<std::uint32_t>(counter_high >> 32);
  std::uint32_t k0 = static_cast<std::uint32_t>(key);
  std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2;
    const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const std::uint32_t n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c0 = n0;
    c1 = static_cast<std::uint32_t>(p1);
    c2 = n2;
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// Uniform in [0, 1) with 24 bits, exact in float.
CORNEA_HD inline float unit_float(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * (1.0f / 16777216.0f);
}

// Uniform in [0, 1) with 53 bits.
CORNEA_HD inline double unit_double(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t{high} << 21) ^ (low >> 11);
  return static_cast<double>(bits) * (1.0 / 9007199254740992.0);
}

// Uniform in [0, bound); the bias is at most 2^-32.
CORNEA_HD inline std::uint32_t bounded(std::uint32_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{bits} * bound) >> 32);
}

// A stream of numbers for host code: the n-th draw of (seed, stream) is always the same.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  std::uint32_t bits() {
    if (used_ == 4) {
      block_ = philox(seed_, stream_, counter_++);
      used_ = 0;
    }
    return block_.v[used_++];
  }
  double uniform() {
    const std::uint32_t high = bits();
    return unit_double(high, bits());
  }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Uniform in [low, high], both ends included.
  int integer(int low, int high) {
    return low + static_cast<int>(bounded(bits(), static_cast<std::uint32_t>(high - low) + 1));
  }
  double normal();  // mean 0, standard deviation 1 (Box-Muller)

 private:
  std::uint64_t seed_, stream_, counter_ = 0;
  Philox4 block_{};
  int used_ = 4;
};

}  // namespace cornea::core
