#include <algorithm>
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

constexpr int kBand = 32;     // rows that a thread takes at once
constexpr int kStrip = 1024;  // columns whose differences stay in the nearest cache
constexpr int kRing = 3;      // rows of differences
constexpr int kPitch = kStrip + 2 + kLanes<float>;

// D_l of an octave, from its levels.
struct Differences {
  const float* levels;
  std::size_t level_floats;
  std::ptrdiff_t stride;
  float operator()(int l, int x, int y) const {
    const float* at = levels + level_floats * l + stride * y + x;
    return at[level_floats] - at[0];
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

// Columns [1, count] of three rows of three differences whose middle is further from 0 than
// `least` and not nearer to it than any of the 26 others on its side. Returns how many.
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
    // Most pixels fail against their own place in the levels above and below.
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

// The extrema in some rows and columns.
void find_extrema(const Differences& dog, int intervals, float least, int top, int bottom, int left,
                  int right, std::vector<LevelPixel>& found) {
  std::vector<float> ring(std::size_t(intervals + 2) * kRing * kPitch);
  auto slot = [&](int l, int y) { return ring.data() + (l * kRing + y % kRing) * kPitch; };
  int columns[kStrip];
  for (int y = top - 1; y <= bottom; ++y) {
    for (int l = 0; l < intervals + 2; ++l) {
      const float* lower = dog.levels + dog.level_floats * l + dog.stride * y + left - 1;
      difference_row(lower + dog.level_floats, lower, right - left + 2, slot(l, y));
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

}  // namespace

std::vector<SiftPoint> find_points(const Context& context, const HostScaleSpace& space, int octave,
                                   const SiftLimits& limits) {
  const OctaveShape& o = space.shape().octaves[octave];
  const Differences dog{space.level(octave, 0).data, o.level_floats(), o.stride};
  const int rows = o.height - 2 * kSiftBorder;
  std::vector<std::vector<LevelPixel>> settled(divide_up(rows, kBand));
  parallel_for(context, rows, kBand, [&](int begin, int end) {
    std::vector<LevelPixel> extrema;
    for (int left = kSiftBorder; left < o.width - kSiftBorder; left += kStrip) {
      const int right = std::min(left + kStrip, o.width - kSiftBorder);
      find_extrema(dog, limits.intervals, 0.5f * limits.contrast, kSiftBorder + begin,
                   kSiftBorder + end, left, right, extrema);
    }
    for (LevelPixel at : extrema) {
      SiftFit fit;
      if (settle(dog, o.width, o.height, limits.intervals, at, fit) && is_stable(fit, limits)) {
        settled[begin / kBand].push_back(at);
      }
    }
  });
  // Two extrema may have settled on one pixel; a point is what that pixel's fit says.
  std::vector<LevelPixel> all;
  for (const auto& part : settled) all.insert(all.end(), part.begin(), part.end());
  auto order = [](const LevelPixel& p) { return std::tuple(p.level, p.y, p.x); };
  std::sort(all.begin(), all.end(), [&](auto& a, auto& b) { return order(a) < order(b); });
  all.erase(
      std::unique(all.begin(), all.end(), [&](auto& a, auto& b) { return order(a) == order(b); }),
      all.end());
  std::vector<SiftPoint> points;
  points.reserve(all.size());
  for (const LevelPixel& at : all) {
    points.push_back(point_of(at, fit_at(dog, at.level, at.x, at.y), octave, limits));
  }
  return points;
}

}  // namespace cornea::sift
