// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

#include "cornea/core/parallel.h"
#include "cornea/core/simd.h"
#include "cornea/describe/sift/host_sift.h"

namespace cornea::sift {
namespace {

using namespace core;

using Floats = Pack<float>;
using Words = Pack<std::int32_t>;

constexpr int kBand = 32;             // rows per piece of work
constexpr int kColumnsAtOnce = 1024;  // columns whose differences stay in the L1 cache
constexpr int kRing = 3;              // rows of differences
constexpr int kPitch = kColumnsAtOnce + 2 + kLanes<float>;
constexpr int kMostLevels = kMostIntervals + 3;

// D_l of an octave, from its levels.
struct Differences {
  std::array<const float*, kMostLevels> levels;
  std::ptrdiff_t stride;
  float operator()(int l, int x, int y) const {
    const std::ptrdiff_t at = stride * y + x;
    return levels[l + 1][at] - levels[l][at];
  }
};

// The same if only some rows are in memory; it records when others were requested.
struct SomeDifferences {
  const Differences& dog;
  HostScaleSpace::Rows rows;
  bool& walked_off;
  float operator()(int l, int x, int y) const {
    if (y >= rows.top && y < rows.bottom) return dog(l, x, y);
    walked_off = true;
    return 0;
  }
};

// The same at any position of the octave, from a patch.
struct PatchDifferences {
  // Pixels around the position, so that one patch serves the following iterations.
  static constexpr int kAround = 4;
  Patch& patch;
  int octave;
  float operator()(int l, int x, int y) const {
    if (!patch.holds(octave, x, y)) patch.cover(octave, x, y, kAround);
    return patch.level(l + 1)(x, y) - patch.level(l)(x, y);
  }
};

CORNEA_VECTOR_CLONES
void difference_row(const float* upper, const float* lower, int count, float* out) {
  for (int x = 0; x < count; ++x) out[x] = upper[x] - lower[x];
}

bool any(Words mask) {
  const auto words = reinterpret_cast<Pack<std::uint64_t>>(mask);
  std::uint64_t all = 0;
  for (int i = 0; i < kLanes<std::uint64_t>; ++i) all |= words[i];
  return all != 0;
}

// Finds the columns [1, count] of three rows of three differences whose centre has a magnitude
// above `least` and is not exceeded by any of its 26 neighbours (with its sign). Returns their
// number.
CORNEA_VECTOR_CLONES
int candidate_columns(const float* const (*rows)[kRing], int count, float least, int* columns) {
  int found = 0;
  for (int x = 1; x <= count; x += kLanes<float>) {
    const Floats centre = load_pack(rows[1][1] + x);
    const Words sign = reinterpret_cast<Words>(centre) & pack_of(std::int32_t(0x80000000u));
    const auto height = reinterpret_cast<Floats>(reinterpret_cast<Words>(centre) ^ sign);
    Words here = height > pack_of(least);
    auto compare = [&](const float* other) {
      const auto turned = reinterpret_cast<Words>(load_pack(other + x)) ^ sign;
      here &= height >= reinterpret_cast<Floats>(turned);
    };
    auto compare_row = [&](const float* row) {
      compare(row - 1);
      compare(row);
      compare(row + 1);
    };
    // Most pixels already fail against the same position in the levels above and below.
    compare(rows[0][1]);
    compare(rows[2][1]);
    if (!any(here)) continue;
    compare(rows[1][1] - 1);
    compare(rows[1][1] + 1);
    compare_row(rows[1][0]);
    compare_row(rows[1][2]);
    if (!any(here)) continue;
    for (int l = 0; l < 3; l += 2) {
      compare(rows[l][1] - 1);
      compare(rows[l][1] + 1);
      compare_row(rows[l][0]);
      compare_row(rows[l][2]);
    }
    if (!any(here)) continue;
    for (int i = 0; i < kLanes<float> && x + i <= count; ++i) {
      if (here[i]) columns[found++] = x + i;
    }
  }
  return found;
}

// The extrema in a range of rows and columns.
void find_extrema(const Differences& dog, int intervals, float least, int top, int bottom, int left,
                  int right, std::vector<LevelPixel>& found) {
  std::vector<float> ring(std::size_t(intervals + 2) * kRing * kPitch);
  auto slot = [&](int l, int y) { return ring.data() + (l * kRing + y % kRing) * kPitch; };
  int columns[kColumnsAtOnce];
  for (int y = top - 1; y <= bottom; ++y) {
    for (int l = 0; l < intervals + 2; ++l) {
      const std::ptrdiff_t at = dog.stride * y + left - 1;
      difference_row(dog.levels[l + 1] + at, dog.levels[l] + at, right - left + 2, slot(l, y));
    }
    if (y <= top) continue;
    for (int l = 1; l <= intervals; ++l) {
      const float* rows[3][kRing];
      for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < 3; ++j) rows[k][j] = slot(l + k - 1, y - 2 + j);
      }
      const int count = candidate_columns(rows, right - left, least, columns);
      for (int i = 0; i < count; ++i) {
        const LevelPixel at{l, left + columns[i] - 1, y - 1};
        if (is_extremum(dog, at.level, at.x, at.y)) found.push_back(at);
      }
    }
  }
}

// The points whose extrema lie in the part's own rows of an octave.
void find_points_of(const Context& context, const HostScaleSpace& space, int octave,
                    const SiftLimits& limits, std::vector<FoundPoint>& points) {
  const OctaveShape& o = space.shape().octaves[octave];
  Differences dog{{}, o.stride};
  for (int l = 0; l < space.shape().levels; ++l) dog.levels[l] = space.level(octave, l).data;
  const HostScaleSpace::Rows own = space.rows(octave), held = space.rows_in_memory(octave);
  const bool all_held = held.top == 0 && held.bottom == o.height;
  const HostScaleSpace::Rows walk{std::max(held.top, own.top - kWalk),
                                  std::min(held.bottom, own.bottom + kWalk)};
  const int top = std::max(own.top, kSiftBorder);
  const int rows = std::min(own.bottom, o.height - kSiftBorder) - top;
  if (rows <= 0) return;
  const int strips = divide_up(o.width - 2 * kSiftBorder, kColumnsAtOnce);
  const int pieces = divide_up(rows, kBand) * strips;
  std::vector<std::vector<FoundPoint>> settled(pieces);
  parallel_for(context, pieces, 1, [&](int piece, int) {
    std::vector<LevelPixel> extrema;
    const int first = top + piece / strips * kBand;
    const int left = kSiftBorder + piece % strips * kColumnsAtOnce;
    find_extrema(dog, limits.intervals, 0.5f * limits.contrast, first,
                 std::min(first + kBand, top + rows), left,
                 std::min(left + kColumnsAtOnce, o.width - kSiftBorder), extrema);
    Patch patch(space);
    for (LevelPixel at : extrema) {
      SiftFit fit;
      auto settles = [&](const auto& differences) {
        return settle(differences, o.width, o.height, limits, at, fit);
      };
      bool there = false;
      if (all_held) {
        there = settles(dog);
      } else {
        const LevelPixel from = at;
        bool walked_off = false;
        there = settles(SomeDifferences{dog, walk, walked_off});
        if (walked_off) at = from, there = settles(PatchDifferences{patch, octave});
      }
      if (there && is_stable(fit, limits)) {
        settled[piece].push_back({point_of(at, fit, octave, limits), at});
      }
    }
  });
  // The fits of two extrema may converge to the same pixel; the point depends on that pixel's fit
  // only, so one of them is kept.
  std::vector<FoundPoint> all;
  for (const auto& part : settled) all.insert(all.end(), part.begin(), part.end());
  auto order = [](const FoundPoint& p) { return std::tuple(p.pixel.level, p.pixel.y, p.pixel.x); };
  std::sort(all.begin(), all.end(), [&](auto& a, auto& b) { return order(a) < order(b); });
  all.erase(
      std::unique(all.begin(), all.end(), [&](auto& a, auto& b) { return order(a) == order(b); }),
      all.end());
  points.insert(points.end(), all.begin(), all.end());
}

}  // namespace

std::vector<FoundPoint> find_points(const Context& context, const HostScaleSpace& space,
                                    const SiftLimits& limits) {
  std::vector<FoundPoint> points;
  for (int o = space.first_octave(); o < space.end_octave(); ++o) {
    find_points_of(context, space, o, limits, points);
  }
  return points;
}

}  // namespace cornea::sift
