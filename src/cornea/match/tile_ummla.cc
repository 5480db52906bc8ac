// UMMLA of Arm (i8mm): two rows of 8 bytes times two columns of 8 bytes, into four sums.
#include "cornea/match/tile_kernel.h"

#if defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)

#include <arm_neon.h>
#include <sys/auxv.h>

#include "cornea/match/tile_walk.h"

namespace cornea {
namespace {

struct Ummla {
  using Vector = int32x4_t;  // a0 b0, a0 b1, a1 b0, a1 b1
  static constexpr int kLanes = 4, kRowsPerVector = 2, kColumnsPerVector = 2;
  // 16 sums in registers leave room for what they are made of.
  static constexpr int kRows = 8, kColumns = 8, kRowVectors = 4, kColumnVectors = 4;
  static constexpr int kRowBytes = kLength, kColumnBytes = kLength;

  static Vector load(const std::int32_t* p) { return vld1q_s32(p); }
  static void store(std::int32_t* p, Vector v) { vst1q_s32(p, v); }
  static Vector same(std::int32_t v) { return vdupq_n_s32(v); }
  static Vector min(Vector a, Vector b) { return vminq_s32(a, b); }
  static Vector max(Vector a, Vector b) { return vmaxq_s32(a, b); }
  static Vector spread_rows(const std::int32_t* p) {
    const int32x2_t two = vld1_s32(p);
    return vcombine_s32(vdup_lane_s32(two, 0), vdup_lane_s32(two, 1));
  }
  static Vector spread_columns(const std::int32_t* p) {
    const int32x2_t two = vld1_s32(p);
    return vcombine_s32(two, two);
  }
  static Vector minus_scaled(Vector base, Vector product) {
    return vmlsq_s32(base, product, vdupq_n_s32(kProductScale));
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

constexpr TileKernel kKernel = {
    "ummla",
    Ummla::kRows,
    Ummla::kColumns,
    Ummla::kRowBytes,
    Ummla::kColumnBytes,
    [] { return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0; },
    [](const std::uint8_t* from, int count, std::uint8_t* to, std::int32_t* offset) {
      pack_panel<std::uint8_t, 8, Ummla::kRows>(from, count, to);
      no_offsets<Ummla>(offset);
    },
    [](const std::uint8_t* from, int count, std::uint8_t* to) {
      pack_panel<std::uint8_t, 8, Ummla::kColumns>(from, count, to);
    },
    walk_tile<Ummla>};

}  // namespace

const TileKernel* ummla_tile_kernel() { return &kKernel; }

}  // namespace cornea

#else

const cornea::TileKernel* cornea::ummla_tile_kernel() { return nullptr; }

#endif
