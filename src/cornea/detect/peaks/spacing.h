// SPDX-License-Identifier: Apache-2.0
// The minimum distance between points, as in cv::goodFeaturesToTrack: greedily from the strongest
// point down, each is kept unless a point that was already kept is closer. Ties are taken in
// reading order.
#pragma once

#include <span>
#include <vector>

#include "cornea/core/features.h"
#include "cornea/core/host_device.h"
#include "cornea/detect/peaks/peaks.h"

namespace cornea::peaks {

// Several peaks around one corner are refined to nearly the same position, whereas the pixels
// of peaks are never closer than this.
inline constexpr double kLeastBetweenRefined = 1;

// The minimum distance according to the options, pixels; 0: none.
inline double spacing_of(const PeakOptions& options) {
  const bool may_meet = options.subpixel == Subpixel::gradient;
  return may_meet && options.min_distance < kLeastBetweenRefined ? kLeastBetweenRefined
                                                                 : options.min_distance;
}

CORNEA_HD inline bool are_near(const Corner& a, const Corner& b, double distance) {
  const double x = double(a.x) - b.x, y = double(a.y) - b.y;
  return x * x + y * y < distance * distance;
}

// Square cells in which points are looked up: the neighbours of a point lie in the 3 x 3 cells
// around it.
struct SpacingGrid {
  int side = 1, across = 1, down = 1;

  SpacingGrid(int width, int height, double distance);
  CORNEA_HD int column(const Corner& corner) const { return int(corner.x) / side; }
  CORNEA_HD int row(const Corner& corner) const { return int(corner.y) / side; }
};

// Returns 1 for each corner that is kept and 0 for the others. The corners are given in reading
// order of their pixels, with their strengths.
template <class R>
std::vector<char> keep_spaced(std::span<const Corner> corners, std::span<const R> strengths,
                              const SpacingGrid& grid, double distance);

}  // namespace cornea::peaks
