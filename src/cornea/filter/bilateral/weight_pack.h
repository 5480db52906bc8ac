// SPDX-License-Identifier: Apache-2.0
// Weights on CPU vectors.
#pragma once

#include <cstdint>
#include <cstring>

#include "cornea/core/simd.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea::bilateral {

using Floats = core::Pack<float>;
inline constexpr int kWidth = core::kLanes<float>;
// Vectors of a row that are processed together to hide latency; as many as the registers hold.
inline constexpr int kAtOnce = core::kPackBytes == 16 ? 6 : 4;
inline constexpr int kSlack = kAtOnce * kWidth;  // floats that may be read and written beyond a row

namespace CORNEA_ISA {

struct PackOps {
  using Real = Floats;
  using Bits = core::Pack<std::int32_t>;
  using Unsigned = core::Pack<std::uint32_t>;
  static Floats constant(float v) { return core::pack_of(v); }
  static Floats fused(Floats a, Floats b, Floats c) { return core::fused(a, b, c); }
  // The bits as an integer have the same sign; comparing integers takes one instruction, whatever
  // the compiler assumes about NaN.
  static Floats at_least_0(Floats v) {
    const Bits bits = bits_of(v);
    return floats_of(bits > 0 ? bits : Bits{});
  }
  static Floats low_bits_as_power(Floats v) { return floats_of(Bits(Unsigned(bits_of(v)) << 23)); }

 private:
  static Bits bits_of(Floats v) {
    Bits bits;
    std::memcpy(&bits, &v, sizeof bits);
    return bits;
  }
  static Floats floats_of(Bits bits) {
    Floats v;
    std::memcpy(&v, &bits, sizeof v);
    return v;
  }
};

inline Floats weight_pack(Floats d, Floats place) { return weight<PackOps>(d, place); }

}  // namespace CORNEA_ISA
}  // namespace cornea::bilateral
