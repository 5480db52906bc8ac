// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/peaks/spacing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace cornea::peaks {

SpacingGrid::SpacingGrid(int width, int height, double distance) {
  constexpr double kLeastSide = 8;  // smaller cells are mostly empty
  const int longest = std::max({width, height, int(kLeastSide)});
  side = int(std::min(std::ceil(std::max(distance, kLeastSide)), double(longest)));
  across = (width - 1) / side + 1;
  down = (height - 1) / side + 1;
}

template <class R>
std::vector<char> keep_spaced(std::span<const Corner> corners, std::span<const R> strengths,
                              const SpacingGrid& grid, double distance) {
  std::vector<int> order(corners.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return strengths[a] != strengths[b] ? strengths[a] > strengths[b] : a < b;
  });
  // The kept corners of each cell as a linked list: the last corner, and for each corner the
  // previous one.
  std::vector<int> last(std::size_t(grid.across) * grid.down, -1), before(corners.size(), -1);
  std::vector<char> keep(corners.size(), 0);
  for (const int i : order) {
    const int column = grid.column(corners[i]), row = grid.row(corners[i]);
    bool free = true;
    for (int y = std::max(row - 1, 0); y <= std::min(row + 1, grid.down - 1) && free; ++y) {
      for (int x = std::max(column - 1, 0); x <= std::min(column + 1, grid.across - 1); ++x) {
        for (int j = last[y * grid.across + x]; j >= 0 && free; j = before[j]) {
          free = !are_near(corners[i], corners[j], distance);
        }
      }
    }
    if (!free) continue;
    keep[i] = 1;
    before[i] = std::exchange(last[row * grid.across + column], i);
  }
  return keep;
}

template std::vector<char> keep_spaced(std::span<const Corner>, std::span<const float>,
                                       const SpacingGrid&, double);
template std::vector<char> keep_spaced(std::span<const Corner>, std::span<const double>,
                                       const SpacingGrid&, double);

}  // namespace cornea::peaks
