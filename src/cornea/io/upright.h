// SPDX-License-Identifier: Apache-2.0
// Internal to io: rotates and mirrors pixels to the orientation in which the photograph is shown.
#pragma once

#include "cornea/core/image.h"

namespace cornea::io {

// `orientation` as in Exif, 2 to 8.
template <class T>
Image<T> turned_upright(HostView<const T> from, int orientation) {
  const int w = from.width, h = from.height;
  const bool swaps = orientation >= 5;
  Image<T> to = swaps ? Image<T>(h, w) : Image<T>(w, h);
  // The upright pixel (x, y) is stored at (x, y), or at (y, x) if width and height are exchanged;
  // mirrored coordinates count from the other end.
  const bool mirror_x =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirror_y =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  constexpr int kTile = 32;  // pixels per side; a tile stays in the cache while it is transposed
  const HostView<T> out = to.host();
  for (int top = 0; top < out.height; top += kTile) {
    for (int left = 0; left < out.width; left += kTile) {
      for (int y = top; y < std::min(top + kTile, out.height); ++y) {
        for (int x = left; x < std::min(left + kTile, out.width); ++x) {
          const int column = swaps ? y : x, row = swaps ? x : y;
          out(x, y) = from(mirror_x ? w - 1 - column : column, mirror_y ? h - 1 - row : row);
        }
      }
    }
  }
  return to;
}

}  // namespace cornea::io
