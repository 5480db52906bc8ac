// SPDX-License-Identifier: Apache-2.0
// Downscales images before features are detected and maps the points back to the original image.
//
// An output pixel is the mean of the area that it covers, with partly covered pixels weighted by
// their share (area interpolation). Integer images are averaged exactly and rounded half up; float
// images are summed in double in a fixed order. So the result does not depend on the device that
// detects the features.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "cornea/core/features.h"
#include "cornea/core/image.h"

namespace cornea::core {

// Throws unless max_size is 0 (off) or at least 16 pixels.
void check_max_size(int max_size);

class Reduced {
 public:
  Reduced() = default;
  // Downscales a host image whose longer side exceeds `max_size` pixels to that size; other images
  // are used as they are. max_size = 0 turns it off. The mask, if any, is reduced as well: a
  // reduced mask pixel is 0 if it covers any pixel that is 0.
  Reduced(AnyView image, AnyView mask, int max_size);

  // The image to detect features in.
  AnyView image() const;
  AnyView mask() const;
  bool is_smaller() const { return scale_x_ != 1 || scale_y_ != 1; }

  // Maps positions in the reduced image back to the original. Pixel centres have integer
  // coordinates, so x becomes (x + 0.5) s - 0.5; scales are multiplied by the mean factor of both
  // axes.
  void to_given(std::vector<Keypoint>& points) const;

 private:
  using Pixels =
      std::variant<Image<std::uint8_t>, Image<std::uint16_t>, Image<float>,
                   Image<Rgb<std::uint8_t>>, Image<Rgb<std::uint16_t>>, Image<Rgb<float>>>;
  AnyView given_, given_mask_;
  Pixels pixels_;
  Image<std::uint8_t> mask_;
  double scale_x_ = 1, scale_y_ = 1;  // original pixels per reduced pixel
};

}  // namespace cornea::core
