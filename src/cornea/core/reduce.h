// Images that are made smaller before features are sought in them, and the way back of their
// points.
//
// A reduced pixel is the mean of the area that it covers, pixels at its edges by their share: exact
// for integers, rounded with halves up; for floats summed in double in one order. So a result does
// not depend on where features are sought afterwards.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "cornea/core/features.h"
#include "cornea/core/image.h"

namespace cornea::core {

// An error unless it is 0 (off) or at least 16 pixels.
void check_max_size(int max_size);

class Reduced {
 public:
  Reduced() = default;
  // An image in host memory whose longest side has more than `max_size` pixels, made smaller until
  // it has that many; any other image is only looked at. 0: any size is as it should be. The mask,
  // if there is one, goes with it: of the reduced one a pixel is 0 where it covers one that is.
  Reduced(AnyView image, AnyView mask, int max_size);

  // What features are sought in.
  AnyView image() const;
  AnyView mask() const;
  bool is_smaller() const { return scale_x_ != 1 || scale_y_ != 1; }

  // From the places in the reduced image to those in the given one. Centres of pixels have whole
  // coordinates, so that x becomes (x + 0.5) s - 0.5; scales follow the mean of both axes.
  void to_given(std::vector<Keypoint>& points) const;

 private:
  using Pixels =
      std::variant<Image<std::uint8_t>, Image<std::uint16_t>, Image<float>,
                   Image<Rgb<std::uint8_t>>, Image<Rgb<std::uint16_t>>, Image<Rgb<float>>>;
  AnyView given_, given_mask_;
  Pixels pixels_;
  Image<std::uint8_t> mask_;
  double scale_x_ = 1, scale_y_ = 1;  // given pixels per reduced one
};

}  // namespace cornea::core
