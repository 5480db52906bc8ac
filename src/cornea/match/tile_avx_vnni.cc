// SPDX-License-Identifier: Apache-2.0
// AVX-VNNI: four bytes of one row times four of each of eight columns (VPDPBUSD). The instruction
// takes signed bytes on one side.
#include "cornea/match/tile_kernel.h"

#if defined(__x86_64__) && defined(__AVXVNNI__)

#include <cpuid.h>

#include "cornea/match/avx2_lanes.h"
#include "cornea/match/tile_walk.h"

namespace cornea::match {
namespace {

struct AvxVnni : Avx2Lanes {
  static constexpr int kRows = 4, kColumns = 16, kRowVectors = 4, kColumnVectors = 2;
  using Packed = std::uint8_t;
  static constexpr int kGroup = 4;
  static constexpr bool kSigned = true;

  static void multiply(const std::uint8_t* a, const std::int32_t* a_offset, const std::uint8_t* b,
                       Vector (&products)[4][2]) {
    __m256i sums[4][2];
    for (int r = 0; r < 4; ++r) sums[r][0] = sums[r][1] = _mm256_set1_epi32(a_offset[r]);
    for (int k = 0; k < kLength / 4; ++k, a += 16, b += 64) {
      const __m256i b0 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)),
                    b1 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 32));
      for (int r = 0; r < 4; ++r) {
        std::int32_t four;
        __builtin_memcpy(&four, a + 4 * r, 4);
        const __m256i row = _mm256_set1_epi32(four);
        sums[r][0] = _mm256_dpbusd_avx_epi32(sums[r][0], row, b0);
        sums[r][1] = _mm256_dpbusd_avx_epi32(sums[r][1], row, b1);
      }
    }
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 2; ++c) products[r][c] = sums[r][c];
    }
  }
};

// Checked with CPUID, because older compilers do not know the name of this feature.
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

constexpr TileKernel kKernel = tile_kernel_of<AvxVnni>(
    "avx-vnni", [] { return __builtin_cpu_supports("avx2") && has_avx_vnni(); });

}  // namespace

const TileKernel* avx_vnni_tile_kernel() { return &kKernel; }

}  // namespace cornea::match

#else

const cornea::match::TileKernel* cornea::match::avx_vnni_tile_kernel() { return nullptr; }

#endif
