// AVX-VNNI: four bytes of one row times four of each of eight columns (VPDPBUSD). It takes
// signed bytes on one side, so columns hold b - 128, and products start from 128 times a row's sum:
//   a.b = a.(b - 128) + 128 sum(a)
#include "cornea/match/tile_kernel.h"

#if defined(__x86_64__) && defined(__AVXVNNI__)

#include <cpuid.h>
#include <immintrin.h>

#include "cornea/match/tile_walk.h"

namespace cornea {
namespace {

struct AvxVnni {
  using Vector = __m256i;  // one row, eight columns
  static constexpr int kLanes = 8, kRowsPerVector = 1, kColumnsPerVector = 8;
  static constexpr int kRows = 4, kColumns = 16, kRowVectors = 4, kColumnVectors = 2;
  static constexpr int kRowBytes = kLength, kColumnBytes = kLength;

  static Vector load(const std::int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void store(std::int32_t* p, Vector v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  static Vector same(std::int32_t v) { return _mm256_set1_epi32(v); }
  static Vector min(Vector a, Vector b) { return _mm256_min_epi32(a, b); }
  static Vector max(Vector a, Vector b) { return _mm256_max_epi32(a, b); }
  static Vector spread_rows(const std::int32_t* p) { return _mm256_set1_epi32(*p); }
  static Vector spread_columns(const std::int32_t* p) { return load(p); }
  static Vector minus_scaled(Vector base, Vector product) {
    return _mm256_sub_epi32(base, _mm256_slli_epi32(product, kKeyIndexBits + 1));
  }

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

// Older compilers do not know its name.
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

constexpr TileKernel kKernel = {
    "avx-vnni",
    AvxVnni::kRows,
    AvxVnni::kColumns,
    AvxVnni::kRowBytes,
    AvxVnni::kColumnBytes,
    [] { return __builtin_cpu_supports("avx2") && has_avx_vnni(); },
    [](const std::uint8_t* from, int count, std::uint8_t* to, std::int32_t* offset) {
      pack_panel<std::uint8_t, 4, AvxVnni::kRows>(from, count, to);
      offset_by_sums<AvxVnni>(from, count, offset);
    },
    [](const std::uint8_t* from, int count, std::uint8_t* to) {
      pack_panel<std::uint8_t, 4, AvxVnni::kColumns, 0x80>(from, count, to);
    },
    walk_tile<AvxVnni>};

}  // namespace

const TileKernel* avx_vnni_tile_kernel() { return &kKernel; }

}  // namespace cornea

#else

const cornea::TileKernel* cornea::avx_vnni_tile_kernel() { return nullptr; }

#endif
