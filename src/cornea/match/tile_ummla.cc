// SPDX-License-Identifier: Apache-2.0
// Arm UMMLA (i8mm): two rows of 8 bytes times two columns of 8 bytes, into four sums.
#include "cornea/match/tile_kernel.h"

#if defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)

#include <sys/auxv.h>

#include "cornea/match/neon_lanes.h"
#include "cornea/match/tile_walk.h"

namespace cornea::match {
namespace {

// A vector is two rows, two columns: a0 b0, a0 b1, a1 b0, a1 b1.
struct Ummla : NeonLanes {
  static constexpr int kRowsPerVector = 2, kColumnsPerVector = 2;
  // 16 accumulators leave registers for the operands.
  static constexpr int kRows = 8, kColumns = 8, kRowVectors = 4, kColumnVectors = 4;
  using Packed = std::uint8_t;
  static constexpr int kGroup = 8;
  static constexpr bool kSigned = false;

  static Vector spread_rows(const std::int32_t* p) {
    const int32x2_t two = vld1_s32(p);
    return vcombine_s32(vdup_lane_s32(two, 0), vdup_lane_s32(two, 1));
  }
  static Vector spread_columns(const std::int32_t* p) {
    const int32x2_t two = vld1_s32(p);
    return vcombine_s32(two, two);
  }

  static void multiply(const std::uint8_t* a, const std::int32_t*, const std::uint8_t* b,
                       Vector (&products)[4][4]) {
    uint32x4_t sums[4][4] = {};
    for (int k = 0; k < kLength / 8; ++k, a += 64, b += 64) {
      const uint8x16_t b0 = vld1q_u8(b), b1 = vld1q_u8(b + 16), b2 = vld1q_u8(b + 32),
                       b3 = vld1q_u8(b + 48);
      for (int r = 0; r < 4; ++r) {
        const uint8x16_t row = vld1q_u8(a + 16 * r);
        sums[r][0] = vmmlaq_u32(sums[r][0], row, b0);
        sums[r][1] = vmmlaq_u32(sums[r][1], row, b1);
        sums[r][2] = vmmlaq_u32(sums[r][2], row, b2);
        sums[r][3] = vmmlaq_u32(sums[r][3], row, b3);
      }
    }
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 4; ++c) products[r][c] = vreinterpretq_s32_u32(sums[r][c]);
    }
  }
};

constexpr TileKernel kKernel =
    tile_kernel_of<Ummla>("ummla", [] { return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0; });

}  // namespace

const TileKernel* ummla_tile_kernel() { return &kKernel; }

}  // namespace cornea::match

#else

const cornea::match::TileKernel* cornea::match::ummla_tile_kernel() { return nullptr; }

#endif
