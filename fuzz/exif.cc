// SPDX-License-Identifier: Apache-2.0
// EXIF, in each of the containers that may hold it.
#include "cornea/io/exif.h"

#include <cmath>
#include <optional>

#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cornea::fuzz::must;
  const std::optional<cornea::Exif> exif = cornea::decode_exif({data, size});
  if (!exif) return 0;
  must(exif->orientation >= 1 && exif->orientation <= 8, "an orientation is 1 to 8");
  for (const double length : {exif->focal_mm, exif->focal_35mm, exif->focal_plane_pixels_per_mm}) {
    must(std::isfinite(length) && length >= 0, "a length is finite and not negative");
  }
  must(exif->pixels_across >= 0 && exif->pixels_down >= 0, "numbers of pixels are not negative");
  must(exif->make.size() <= 256 && exif->model.size() <= 256, "texts are short");
  if (exif->gps) {
    // NaN also fails these.
    must(std::abs(exif->gps->latitude) <= 90, "a latitude is -90 to 90 degrees");
    must(std::abs(exif->gps->longitude) <= 180, "a longitude is -180 to 180 degrees");
    must(std::abs(exif->gps->altitude_m.value_or(0)) <= 1e5, "an altitude is one on Earth");
  }
  must(exif->taken.empty() || (exif->taken.size() >= 19 && exif->taken.size() <= 29),
       "a time has seconds, and at most nine digits behind them");
  return 0;
}
