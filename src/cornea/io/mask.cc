// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/mask.h"

namespace cornea::io {

Image<std::uint8_t> as_mask(const GrayImage& image) {
  Image<std::uint8_t> mask(image.width(), image.height());
  visit_gray(image.view(), [&](auto pixels) {
    for (int y = 0; y < pixels.height; ++y) {
      for (int x = 0; x < pixels.width; ++x) mask(x, y) = pixels(x, y) != 0 ? 255 : 0;
    }
  });
  return mask;
}

}  // namespace cornea::io
