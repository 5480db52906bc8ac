// Powers of two on the CPU's vectors, for weights.
#pragma once

#include <cstdint>
#include <cstring>

#include "cornea/core/simd.h"

namespace cornea::bilateral {

using Floats = core::Pack<float>;
inline constexpr int kWidth = core::kLanes<float>;
// Packs of a row, for work while one waits; as many as the registers hold.
inline constexpr int kAtOnce = core::kPackBytes == 16 ? 6 : 4;
inline constexpr int kSlack = kAtOnce * kWidth;  // that may be read and written beyond a row

// 2^e for e <= 0, to 3e-6 of itself; below -125 it stays at 2^-125, a normal number. The whole part
// goes to the exponent, 2^f for |f| <= 1/2 is a polynomial.
inline Floats exp2_pack(Floats e) {
  const Floats least = core::pack_of(-125.0f);
  e = e > least ? e : least;
  constexpr float kRound = 12582912.0f;  // 1.5 2^23: sums with it have no fraction
  const Floats shifted = e + kRound;
  const Floats f = e - (shifted - kRound), squared = f * f;
  const Floats low = f * 0.69312181f + 0.99999926f, high = f * 0.05591786f + 0.24024745f;
  const Floats p = (squared * 0.0095701f + high) * squared + low;
  core::Pack<std::int32_t> bits, whole;
  std::memcpy(&bits, &p, sizeof bits);
  std::memcpy(&whole, &shifted, sizeof whole);
  bits += whole << 23;
  Floats result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

}  // namespace cornea::bilateral
