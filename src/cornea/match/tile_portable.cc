// SPDX-License-Identifier: Apache-2.0
// For every machine: products in float, which every vector unit multiplies fast. They are exact,
// because all sums are integers below 2^24.
#include "cornea/match/tile_walk.h"

namespace cornea::match {
namespace {

static_assert(kLargestValue < 1 << 24);

struct Portable {
  typedef std::int32_t Vector __attribute__((vector_size(16), aligned(4), may_alias));
  typedef std::uint32_t Words __attribute__((vector_size(16), aligned(4), may_alias));
  typedef float Floats __attribute__((vector_size(16), aligned(4), may_alias));
  static constexpr int kLanes = 4, kRowsPerVector = 1, kColumnsPerVector = 4;
  static constexpr int kRows = 4, kColumns = 8, kRowVectors = 4, kColumnVectors = 2;
  using Packed = float;
  static constexpr int kGroup = 1;
  static constexpr bool kSigned = false;

  static Vector load(const std::int32_t* p) { return *reinterpret_cast<const Vector*>(p); }
  static void store(std::int32_t* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
  static Vector same(std::int32_t v) { return v - Vector{}; }
  static Vector min(Vector a, Vector b) { return a < b ? a : b; }
  static Vector max(Vector a, Vector b) { return a < b ? b : a; }
  static Vector spread_rows(const std::int32_t* p) { return same(*p); }
  static Vector spread_columns(const std::int32_t* p) { return load(p); }
  static Vector minus_scaled(Vector base, Vector product) {
    return Vector(Words(base) - (Words(product) << (kKeyIndexBits + 1)));  // as key_of()
  }

  static void multiply(const std::uint8_t* a_bytes, const std::int32_t*,
                       const std::uint8_t* b_bytes, Vector (&products)[4][2]) {
    const float* a = reinterpret_cast<const float*>(a_bytes);
    const float* b = reinterpret_cast<const float*>(b_bytes);
    Floats sums[4][2] = {};
    for (int k = 0; k < kLength; ++k, a += kRows, b += kColumns) {
      const Floats b0 = *reinterpret_cast<const Floats*>(b);
      const Floats b1 = *reinterpret_cast<const Floats*>(b + 4);
      for (int r = 0; r < kRows; ++r) {
        sums[r][0] += a[r] * b0;
        sums[r][1] += a[r] * b1;
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < 2; ++c) products[r][c] = __builtin_convertvector(sums[r][c], Vector);
    }
  }
};
static_assert(kProductScale == 1 << (kKeyIndexBits + 1));

constexpr TileKernel kKernel = tile_kernel_of<Portable>("portable", [] { return true; });

}  // namespace

const TileKernel* portable_tile_kernel() { return &kKernel; }

}  // namespace cornea::match
