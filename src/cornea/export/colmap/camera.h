// The camera that COLMAP would take an image for, before it has seen any other.
#pragma once

#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/io/exif.h"

namespace cornea::colmap {

// SIMPLE_RADIAL, its centre in the middle, without distortion. The focal length in pixels, with m
// the longer side of the image:
//   EXIF 35 mm equivalent f35:                       m f35 / 35
//   EXIF focal length f and longer side s, in mm:    m f / s, s from the focal plane's resolution
//   otherwise a guess:                               1.2 m, and prior_focal_length is off
// The first is COLMAP's own formula. COLMAP also has a list of sensors by camera, Cornea has not.
CORNEA_API Camera camera_of_image(int width, int height, const std::optional<Exif>& exif);

}  // namespace cornea::colmap
