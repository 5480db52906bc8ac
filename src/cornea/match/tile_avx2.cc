// AVX2: bytes widened to 16 bits, two of one row times two of each of eight columns (VPMADDWD).
#include "cornea/match/tile_kernel.h"

#if defined(__x86_64__) && defined(__AVX2__)

#include <immintrin.h>

#include "cornea/match/tile_walk.h"

namespace cornea {
namespace {

struct Avx2 {
  using Vector = __m256i;  // one row, eight columns
  static constexpr int kLanes = 8, kRowsPerVector = 1, kColumnsPerVector = 8;
  static constexpr int kRows = 4, kColumns = 16, kRowVectors = 4, kColumnVectors = 2;
  static constexpr int kRowBytes = kLength * 2, kColumnBytes = kLength * 2;

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

constexpr TileKernel kKernel = {
    "avx2",
    Avx2::kRows,
    Avx2::kColumns,
    Avx2::kRowBytes,
    Avx2::kColumnBytes,
    [] { return __builtin_cpu_supports("avx2") != 0; },
    [](const std::uint8_t* from, int count, std::uint8_t* to, std::int32_t* offset) {
      pack_panel<std::int16_t, 2, Avx2::kRows>(from, count, to);
      no_offsets<Avx2>(offset);
    },
    [](const std::uint8_t* from, int count, std::uint8_t* to) {
      pack_panel<std::int16_t, 2, Avx2::kColumns>(from, count, to);
    },
    walk_tile<Avx2>};

}  // namespace

const TileKernel* avx2_tile_kernel() { return &kKernel; }

}  // namespace cornea

#else

const cornea::TileKernel* cornea::avx2_tile_kernel() { return nullptr; }

#endif
