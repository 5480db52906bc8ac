// SPDX-License-Identifier: Apache-2.0
#include "study/plain_moravec.h"

#include <algorithm>
#include <limits>

namespace cornea::study {

std::vector<std::int32_t> plain_moravec(HostView<const std::uint8_t> image) {
  std::vector<std::int32_t> map(std::size_t(image.width) * image.height);
  for (int y = kMoravecMargin; y < image.height - kMoravecMargin; ++y) {
    for (int x = kMoravecMargin; x < image.width - kMoravecMargin; ++x) {
      int least = std::numeric_limits<int>::max();
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          if (dx == 0 && dy == 0) continue;
          int sum = 0;
          for (int j = y - 1; j <= y + 1; ++j) {
            for (int i = x - 1; i <= x + 1; ++i) {
              const int d = int(image(i + dx, j + dy)) - int(image(i, j));
              sum += d * d;
            }
          }
          least = std::min(least, sum);
        }
      }
      map[std::size_t(y) * image.width + x] = least;
    }
  }
  return map;
}

std::vector<Corner> plain_peaks(const std::vector<std::int32_t>& map, int width, int height) {
  std::vector<Corner> corners;
  for (int y = kMoravecMargin; y < height - kMoravecMargin; ++y) {
    for (int x = kMoravecMargin; x < width - kMoravecMargin; ++x) {
      const std::int32_t* at = &map[std::size_t(y) * width + x];
      const std::int32_t own = *at;
      if (own <= kMoravecThreshold) continue;
      bool largest = true;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const std::int32_t other = at[dy * width + dx];
          const bool before = dy < 0 || (dy == 0 && dx < 0);
          if (dx != 0 || dy != 0) largest &= before ? own > other : own >= other;
        }
      }
      if (largest) corners.push_back({float(x), float(y), float(own)});
    }
  }
  return corners;
}

}  // namespace cornea::study
