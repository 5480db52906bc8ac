// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/peaks/peaks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "cornea/core/parallel.h"
#include "cornea/core/selection.h"
#include "cornea/core/simd.h"
#include "cornea/detect/peaks/peak_search.h"
#include "cornea/detect/peaks/peaks_math.h"
#include "cornea/detect/peaks/spacing.h"

namespace cornea {
namespace {

using namespace core;
using namespace peaks;

constexpr int kRowsPerPiece = 32;

template <class R>
struct Candidate {
  R value;
  int x, y;
  Corner corner = {};  // only used if points are moved or have a minimum distance
};

// The larger of a and b; b if a is NaN.
template <class R>
CORNEA_INTO_CLONES R larger(R a, R b) {
  return a > b ? a : b;
}

// out[x] = max(a[x], b[x], c[x]), ignoring NaN.
template <class R>
CORNEA_INTO_CLONES void max_of_three(const R* __restrict a, const R* __restrict b,
                                     const R* __restrict c, R* __restrict out, int n) {
  constexpr R kLowest = -std::numeric_limits<R>::infinity();
  for (int x = 0; x < n; ++x) out[x] = larger(a[x], larger(b[x], larger(c[x], kLowest)));
}
CORNEA_LOOP_CLONES void max_rows(const float* a, const float* b, const float* c, float* out,
                                 int n) {
  max_of_three(a, b, c, out, n);
}
CORNEA_LOOP_CLONES void max_rows(const double* a, const double* b, const double* c, double* out,
                                 int n) {
  max_of_three(a, b, c, out, n);
}

// out[x] = max(out[x], a[x], b[x])
template <class R>
CORNEA_INTO_CLONES void max_into(const R* __restrict a, const R* __restrict b, R* __restrict out,
                                 int n) {
  for (int x = 0; x < n; ++x) out[x] = larger(a[x], larger(b[x], out[x]));
}
CORNEA_LOOP_CLONES void max_into_row(const float* a, const float* b, float* out, int n) {
  max_into(a, b, out, n);
}
CORNEA_LOOP_CLONES void max_into_row(const double* a, const double* b, double* out, int n) {
  max_into(a, b, out, n);
}

// flags[x] = 1 if row[x] exceeds the cutoff and is at least a[x], b[x] and c[x].
template <class R>
CORNEA_INTO_CLONES void flag(const R* __restrict row, const R* a, const R* b, const R* c, R cutoff,
                             std::uint8_t* __restrict flags, int n) {
  for (int x = 0; x < n; ++x) {
    flags[x] = (row[x] > cutoff) & (row[x] >= larger(larger(a[x], b[x]), c[x]));
  }
}
CORNEA_LOOP_CLONES void flag_row(const float* row, const float* a, const float* b, const float* c,
                                 float cutoff, std::uint8_t* flags, int n) {
  flag(row, a, b, c, cutoff, flags, n);
}
CORNEA_LOOP_CLONES void flag_row(const double* row, const double* a, const double* b,
                                 const double* c, double cutoff, std::uint8_t* flags, int n) {
  flag(row, a, b, c, cutoff, flags, n);
}

// The largest value of the row segment, in independent lanes so that it vectorises.
template <class R>
CORNEA_INTO_CLONES R largest(const R* row, int n) {
  constexpr int kLanes = 16;
  R lane[kLanes];
  std::fill(lane, lane + kLanes, -std::numeric_limits<R>::infinity());
  int x = 0;
  for (; x + kLanes <= n; x += kLanes) {
    for (int i = 0; i < kLanes; ++i) lane[i] = row[x + i] > lane[i] ? row[x + i] : lane[i];
  }
  for (; x < n; ++x) lane[0] = row[x] > lane[0] ? row[x] : lane[0];
  return *std::max_element(lane, lane + kLanes);
}
CORNEA_LOOP_CLONES float largest_of(const float* row, int n) { return largest(row, n); }
CORNEA_LOOP_CLONES double largest_of(const double* row, int n) { return largest(row, n); }

template <class R>
R strongest_response(const Context& context, HostView<const R> map, Region region,
                     HostView<const std::uint8_t> mask) {
  const int rows = region.bottom - region.top;
  std::vector<R> row_max(rows, -std::numeric_limits<R>::infinity());
  parallel_for(context, rows, kRowsPerPiece, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int y = region.top + i;
      if (mask.empty()) {
        row_max[i] = largest_of(map.row(y) + region.left, region.right - region.left);
        continue;
      }
      for (int x = region.left; x < region.right; ++x) {
        if (mask(x, y)) row_max[i] = std::max(row_max[i], map(x, y));
      }
    }
  });
  return *std::max_element(row_max.begin(), row_max.end());
}

// One band of rows: a separable maximum filter finds the few pixels that need the exact test.
template <class R>
class BandSearch {
 public:
  BandSearch(HostView<const R> map, Region region, HostView<const std::uint8_t> mask,
             const PeakOptions& options, R cutoff)
      : map_(map),
        region_(region),
        mask_(mask),
        cutoff_(cutoff),
        radius_(options.nms / 2),
        first_(options.plateaus == Plateaus::first),
        column_max_(map.width + 2 * radius_, -std::numeric_limits<R>::infinity()),
        square_max_(map.width),
        flags_(map.width + 8) {}

  void search(int top, int bottom, std::vector<Candidate<R>>& found) {
    for (int y = top; y < bottom; ++y) search_row(y, found);
  }

 private:
  void search_row(int y, std::vector<Candidate<R>>& found) {
    const int n = region_.right - region_.left;
    const R* row = map_.row(y) + region_.left;
    if (radius_ == 0) {
      flag_row(row, row, row, row, cutoff_, flags_.data(), n);
    } else {
      flag_square_maxima(y, row, n);
    }
    for (int x = 0; x < n; x += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, flags_.data() + x, 8);
      if (eight == 0) continue;
      for (int i = x; i < std::min(x + 8, n); ++i) {
        if (flags_[i]) look_closer(region_.left + i, y, found);
      }
    }
  }

  // Two rows or columns enter the maximum at a time; the last two are combined with the comparison.
  void flag_square_maxima(int y, const R* row, int n) {
    R* columns = column_max_.data() + radius_;
    max_rows(row_near(y - 1), row_near(y), row_near(y + 1), columns, map_.width);
    for (int j = 2; j <= radius_; ++j) {
      max_into_row(row_near(y - j), row_near(y + j), columns, map_.width);
    }
    const R* here = columns + region_.left;
    const R* nearest = here;
    if (radius_ > 1) {
      max_rows(here - 1, here, here + 1, square_max_.data(), n);
      for (int i = 2; i < radius_; ++i) max_into_row(here - i, here + i, square_max_.data(), n);
      nearest = square_max_.data();
    }
    flag_row(row, here - radius_, nearest, here + radius_, cutoff_, flags_.data(), n);
  }
  // Rows beyond the map are replaced by its first or last row, which is in the square anyway.
  const R* row_near(int y) const { return map_.row(std::clamp(y, 0, map_.height - 1)); }

  void look_closer(int x, int y, std::vector<Candidate<R>>& found) {
    if (!mask_.empty() && !mask_(x, y)) return;
    if (first_ && !is_square_maximum(map_, x, y, radius_, true)) return;
    found.push_back({map_(x, y), x, y});
  }

  HostView<const R> map_;
  Region region_;
  HostView<const std::uint8_t> mask_;
  R cutoff_;
  int radius_;
  bool first_;
  std::vector<R> column_max_, square_max_;
  std::vector<std::uint8_t> flags_;
};

template <class R>
std::vector<Candidate<R>> find_candidates(const Context& context, HostView<const R> map,
                                          Region region, HostView<const std::uint8_t> mask,
                                          const PeakOptions& options, R cutoff) {
  const int rows = region.bottom - region.top;
  std::vector<std::vector<Candidate<R>>> bands((rows - 1) / kRowsPerPiece + 1);
  parallel_for(context, rows, kRowsPerPiece, [&](int begin, int end) {
    BandSearch<R>(map, region, mask, options, cutoff)
        .search(region.top + begin, region.top + end, bands[begin / kRowsPerPiece]);
  });
  std::vector<Candidate<R>> all;
  for (const auto& band : bands) all.insert(all.end(), band.begin(), band.end());
  return all;
}

// Keeps the peaks that pass the test. Both lists are in reading order, so that one pass compares
// them.
template <class R>
void keep_passing(std::vector<Candidate<R>>& candidates, R cutoff, const PeakTest& test) {
  std::vector<PixelAt> pixels;
  pixels.reserve(candidates.size());
  for (const auto& c : candidates) pixels.push_back({c.x, c.y});
  test(static_cast<double>(cutoff), pixels);
  auto next = pixels.begin();
  std::erase_if(candidates, [&](const Candidate<R>& c) {
    const bool stays = next != pixels.end() && next->x == c.x && next->y == c.y;
    if (stays) ++next;
    return !stays;
  });
}

template <class R>
void cap(std::vector<Candidate<R>>& candidates, const PeakOptions& options) {
  auto value = [](const Candidate<R>& c) { return c.value; };
  if (options.max_per_cell > 0) {
    auto cell = [&](const Candidate<R>& c) {
      return std::uint64_t(c.y / options.cell) << 32 | std::uint32_t(c.x / options.cell);
    };
    keep_strongest_per_cell(candidates, options.max_per_cell, cell, value);
  }
  if (options.max_points > 0) keep_strongest(candidates, options.max_points, value);
}

// Keeps the peaks whose points, after they were moved, are far enough from stronger ones.
template <class R>
void space(std::vector<Candidate<R>>& candidates, HostView<const R> map, double unit,
           const PeakOptions& options, const PeakMove& move) {
  const bool quadratic = options.subpixel == Subpixel::quadratic;
  std::vector<Corner> corners;
  std::vector<R> strengths;
  corners.reserve(candidates.size());
  strengths.reserve(candidates.size());
  for (const auto& c : candidates) {
    corners.push_back(corner_at(map, c.x, c.y, unit, quadratic));
    strengths.push_back(c.value);
  }
  if (move) move(corners);
  const double distance = spacing_of(options);
  const std::vector<char> keep =
      keep_spaced<R>(corners, strengths, SpacingGrid(map.width, map.height, distance), distance);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!keep[i]) continue;
    candidates[kept] = candidates[i];
    candidates[kept++].corner = corners[i];
  }
  candidates.resize(kept);
}

}  // namespace

void PeakOptions::validate() const {
  require(
      !std::isnan(threshold),
      "threshold is not a number; give a response, or with relative a fraction of the strongest");
  require(!relative || (threshold >= 0 && threshold < 1), "threshold is ", threshold,
          " and must be in [0, 1) if it is relative");
  require(nms >= 1 && nms % 2 == 1 && nms <= 255, "nms is ", nms,
          " and must be odd and from 1 to 255, the side of the suppression square");
  require(subpixel_radius >= 1 && subpixel_radius <= 15, "subpixel_radius is ", subpixel_radius,
          " and must be 1 to 15 pixels");
  require(min_distance >= 0 && std::isfinite(min_distance), "min_distance is ", min_distance,
          " and must be 0 or a number of pixels");
  require(max_points >= 0, "max_points is ", max_points, " and must be 0 (all) or more");
  require(cell >= 0, "cell is ", cell, " and must be 0 (no grid) or more");
  require(max_per_cell >= 0, "max_per_cell is ", max_per_cell, " and must be 0 (all) or more");
  require((cell > 0) == (max_per_cell > 0),
          "a cap per grid cell needs both cell and max_per_cell; one of them is 0");
}

namespace peaks {

Region inside_margin(int width, int height, Margin margin) {
  return {margin.before, margin.before, width - margin.after, height - margin.after};
}

void check_region(const Region& region, int width, int height) {
  require(region.left >= 0 && region.top >= 0 && region.right <= width && region.bottom <= height,
          "the region ", region.left, ", ", region.top, " to ", region.right, ", ", region.bottom,
          " extends beyond the map of ", width, " x ", height, " pixels");
}

template <class R>
std::vector<Corner> search_peaks(const Context& context, HostView<const R> map, Region region,
                                 HostView<const std::uint8_t> mask, const PeakOptions& options,
                                 double unit, const PeakTest& test, const PeakMove& move) {
  options.validate();
  require(mask.empty() || (mask.width == map.width && mask.height == map.height), "the mask is ",
          mask.width, " x ", mask.height, " pixels and the image ", map.width, " x ", map.height,
          "; they must be equal");
  if (region.empty()) return {};
  check_region(region, map.width, map.height);
  const R strongest = options.relative ? strongest_response(context, map, region, mask) : R(0);
  const R cutoff = peak_cutoff<R>(options.threshold, options.relative, unit, strongest);
  auto candidates = find_candidates(context, map, region, mask, options, cutoff);
  if (test) keep_passing(candidates, cutoff, test);
  const bool spaced = spacing_of(options) > 0;
  if (spaced) space(candidates, map, unit, options, move);
  cap(candidates, options);
  const bool quadratic = options.subpixel == Subpixel::quadratic;
  std::vector<Corner> corners;
  corners.reserve(candidates.size());
  for (const auto& c : candidates) {
    corners.push_back(spaced ? c.corner : corner_at(map, c.x, c.y, unit, quadratic));
  }
  return corners;
}

template std::vector<Corner> search_peaks(const Context&, HostView<const float>, Region,
                                          HostView<const std::uint8_t>, const PeakOptions&, double,
                                          const PeakTest&, const PeakMove&);
template std::vector<Corner> search_peaks(const Context&, HostView<const double>, Region,
                                          HostView<const std::uint8_t>, const PeakOptions&, double,
                                          const PeakTest&, const PeakMove&);

}  // namespace peaks

template <class R>
std::vector<Corner> find_peaks(const Context& context, HostView<const R> map,
                               const PeakOptions& options, HostView<const std::uint8_t> mask) {
  require(options.subpixel != Subpixel::gradient,
          "subpixel is gradient, which needs the image; take its corners from a detector, or pass "
          "those found here to refine_corners()");
  return peaks::search_peaks(context, map, inside_margin(map.width, map.height, 0), mask, options,
                             1, {});
}

template std::vector<Corner> find_peaks(const Context&, HostView<const float>, const PeakOptions&,
                                        HostView<const std::uint8_t>);
template std::vector<Corner> find_peaks(const Context&, HostView<const double>, const PeakOptions&,
                                        HostView<const std::uint8_t>);

}  // namespace cornea
