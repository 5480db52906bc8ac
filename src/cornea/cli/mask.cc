#include "cornea/cli/mask.h"

#include "cornea/cli/streams.h"

namespace cornea::cli {

Image<std::uint8_t> read_mask(const std::string& file, const ReadOptions& options) {
  const GrayImage gray = gray_from(file, options);
  Image<std::uint8_t> mask(gray.width(), gray.height());
  visit_gray(gray.view(), [&](auto pixels) {
    for (int y = 0; y < pixels.height; ++y) {
      for (int x = 0; x < pixels.width; ++x) mask(x, y) = pixels(x, y) != 0 ? 255 : 0;
    }
  });
  return mask;
}

}  // namespace cornea::cli
