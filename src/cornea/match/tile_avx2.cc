// SPDX-License-Identifier: Apache-2.0
// AVX2: bytes widened to 16 bits; two of one row times two of each of eight columns (VPMADDWD).
#include "cornea/match/tile_kernel.h"

#if defined(__x86_64__) && defined(__AVX2__)

#include "cornea/match/avx2_lanes.h"
#include "cornea/match/tile_walk.h"

namespace cornea::match {
namespace {

struct Avx2 : Avx2Lanes {
  static constexpr int kRows = 4, kColumns = 16, kRowVectors = 4, kColumnVectors = 2;
  using Packed = std::int16_t;
  static constexpr int kGroup = 2;
  static constexpr bool kSigned = false;

  static void multiply(const std::uint8_t* a, const std::int32_t*, const std::uint8_t* b,
                       Vector (&products)[4][2]) {
    __m256i sums[4][2];
    for (auto& row : sums) row[0] = row[1] = _mm256_setzero_si256();
    for (int k = 0; k < kLength / 2; ++k, a += 16, b += 64) {
      const __m256i b0 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
      const __m256i b1 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 32));
      for (int r = 0; r < 4; ++r) {
        std::int32_t two;
        __builtin_memcpy(&two, a + 4 * r, 4);
        const __m256i row = _mm256_set1_epi32(two);
        sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(row, b0));
        sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(row, b1));
      }
    }
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 2; ++c) products[r][c] = sums[r][c];
    }
  }
};

constexpr TileKernel kKernel =
    tile_kernel_of<Avx2>("avx2", [] { return __builtin_cpu_supports("avx2") != 0; });

}  // namespace

const TileKernel* avx2_tile_kernel() { return &kKernel; }

}  // namespace cornea::match

#else

const cornea::match::TileKernel* cornea::match::avx2_tile_kernel() { return nullptr; }

#endif
