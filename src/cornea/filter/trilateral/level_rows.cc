// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/trilateral/level_rows.h"

#include <algorithm>
#include <vector>

#include "cornea/core/simd.h"
#include "cornea/filter/trilateral/trilateral_math.h"

namespace cornea::trilateral {
namespace {

inline float least(float a, float b) { return b < a ? b : a; }
inline float largest(float a, float b) { return a < b ? b : a; }

// The minimum or maximum of three neighbours of a row; of two at its ends.
template <class Pick>
inline void pick_along(const float* row, int width, float* out, Pick pick) {
  for (int x = 1; x < width - 1; ++x) out[x] = pick(pick(row[x - 1], row[x]), row[x + 1]);
  out[0] = width > 1 ? pick(row[0], row[1]) : row[0];
  if (width > 1) out[width - 1] = pick(row[width - 2], row[width - 1]);
}

CORNEA_VECTOR_CLONES
void extremes_along(const float* low, const float* high, int width, float* low_out,
                    float* high_out) {
  pick_along(low, width, low_out, least);
  pick_along(high, width, high_out, largest);
}

CORNEA_VECTOR_CLONES
void extremes_down(const float* const low[3], const float* const high[3], int width, float* low_out,
                   float* high_out) {
  for (int x = 0; x < width; ++x) {
    low_out[x] = least(least(low[0][x], low[1][x]), low[2][x]);
    high_out[x] = largest(largest(high[0][x], high[1][x]), high[2][x]);
  }
}

// Raises the level of the pixels whose window still agrees. Returns whether there is any.
CORNEA_VECTOR_CLONES
bool raise_levels(const float* low, const float* high, const LevelLimits* limits, int width,
                  std::uint8_t* open, std::uint8_t* levels) {
  std::uint8_t any = 0;
  for (int x = 0; x < width; ++x) {
    const bool agrees = high[x] <= limits[x].largest && low[x] >= limits[x].least;
    open[x] &= std::uint8_t(agrees);
    levels[x] += open[x];
    any |= open[x];
  }
  return any != 0;
}

}  // namespace

void level_rows(HostView<const float> squared, double sigma_r, int level_count, int begin, int end,
                HostView<std::uint8_t> levels) {
  const int width = squared.width, above = std::min(begin, level_count - 1);
  const int first = begin - above, last = std::min(end + level_count - 1, squared.height);
  const std::size_t size = std::size_t(last - first) * width;
  std::vector<float> low(size), high(size), low_along(size), high_along(size);
  std::vector<LevelLimits> limits(std::size_t(end - begin) * width);
  std::vector<std::uint8_t> open(limits.size(), 1);
  auto row = [&](std::vector<float>& image, int y) {
    return image.data() + std::size_t(y - first) * width;
  };
  for (int y = first; y < last; ++y) {
    std::copy_n(squared.row(y), width, row(low, y));
    std::copy_n(squared.row(y), width, row(high, y));
  }
  for (int y = begin; y < end; ++y) {
    std::fill_n(levels.row(y), width, std::uint8_t{0});
    for (int x = 0; x < width; ++x) {
      limits[std::size_t(y - begin) * width + x] = level_limits(squared(x, y), sigma_r);
    }
  }
  bool any = true;
  for (int level = 1; level < level_count && any; ++level) {
    // Rows that the levels above still need.
    const int top = std::max(begin - (level_count - 1 - level), 0);
    const int bottom = std::min(end + level_count - 1 - level, squared.height);
    for (int y = std::max(top - 1, first); y < std::min(bottom + 1, last); ++y) {
      extremes_along(row(low, y), row(high, y), width, row(low_along, y), row(high_along, y));
    }
    for (int y = top; y < bottom; ++y) {
      const int before = std::max(y - 1, 0), after = std::min(y + 1, squared.height - 1);
      const float* const lows[3] = {row(low_along, before), row(low_along, y),
                                    row(low_along, after)};
      const float* const highs[3] = {row(high_along, before), row(high_along, y),
                                     row(high_along, after)};
      extremes_down(lows, highs, width, row(low, y), row(high, y));
    }
    any = false;
    for (int y = begin; y < end; ++y) {
      const std::size_t at = std::size_t(y - begin) * width;
      any |= raise_levels(row(low, y), row(high, y), limits.data() + at, width, open.data() + at,
                          levels.row(y));
    }
  }
}

}  // namespace cornea::trilateral
