// SPDX-License-Identifier: Apache-2.0
// Unsigned integers that sort in the same order as the floating-point numbers they encode.
#pragma once

#include <cstdint>
#include <cstring>

#include "cornea/core/host_device.h"

namespace cornea::core {

CORNEA_HD inline std::uint32_t ordered_bits(float v) {
  std::uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits ^ ((bits >> 31) ? 0xffffffffu : 0x80000000u);
}
CORNEA_HD inline std::uint64_t ordered_bits(double v) {
  std::uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits ^ ((bits >> 63) ? ~0ull : 0x8000000000000000ull);
}
CORNEA_HD inline float from_ordered_bits(std::uint32_t bits) {
  bits ^= (bits >> 31) ? 0x80000000u : 0xffffffffu;
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
CORNEA_HD inline double from_ordered_bits(std::uint64_t bits) {
  bits ^= (bits >> 63) ? 0x8000000000000000ull : ~0ull;
  double v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

template <class R>
using OrderedBits = decltype(ordered_bits(R{}));

}  // namespace cornea::core
