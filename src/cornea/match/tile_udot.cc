// SPDX-License-Identifier: Apache-2.0
// Arm UDOT (dotprod): four bytes of one row times four bytes of each of four columns.
#include "cornea/match/tile_kernel.h"

#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)

#include <sys/auxv.h>

#include "cornea/match/neon_lanes.h"
#include "cornea/match/tile_walk.h"

namespace cornea::match {
namespace {

// A vector is one row, four columns.
struct Udot : NeonLanes {
  static constexpr int kRowsPerVector = 1, kColumnsPerVector = 4;
  static constexpr int kRows = 8, kColumns = 8, kRowVectors = 8, kColumnVectors = 2;
  using Packed = std::uint8_t;
  static constexpr int kGroup = 4;
  static constexpr bool kSigned = false;

  static Vector spread_rows(const std::int32_t* p) { return vdupq_n_s32(*p); }
  static Vector spread_columns(const std::int32_t* p) { return vld1q_s32(p); }

  template <int lane>
  static void enter_row(uint32x4_t (&sums)[2], uint8x16_t rows, uint8x16_t b0, uint8x16_t b1) {
    sums[0] = vdotq_laneq_u32(sums[0], b0, rows, lane);
    sums[1] = vdotq_laneq_u32(sums[1], b1, rows, lane);
  }

  static void multiply(const std::uint8_t* a, const std::int32_t*, const std::uint8_t* b,
                       Vector (&products)[8][2]) {
    uint32x4_t sums[8][2] = {};
    for (int k = 0; k < kLength / 4; ++k, a += 32, b += 32) {
      const uint8x16_t b0 = vld1q_u8(b), b1 = vld1q_u8(b + 16);
      for (int half = 0; half < 2; ++half) {
        const uint8x16_t rows = vld1q_u8(a + 16 * half);
        enter_row<0>(sums[4 * half], rows, b0, b1);
        enter_row<1>(sums[4 * half + 1], rows, b0, b1);
        enter_row<2>(sums[4 * half + 2], rows, b0, b1);
        enter_row<3>(sums[4 * half + 3], rows, b0, b1);
      }
    }
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < 2; ++c) products[r][c] = vreinterpretq_s32_u32(sums[r][c]);
    }
  }
};

constexpr TileKernel kKernel =
    tile_kernel_of<Udot>("udot", [] { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; });

}  // namespace

const TileKernel* udot_tile_kernel() { return &kKernel; }

}  // namespace cornea::match

#else

const cornea::match::TileKernel* cornea::match::udot_tile_kernel() { return nullptr; }

#endif
