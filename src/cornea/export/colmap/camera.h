// The camera that COLMAP would take an image for, before it has seen any other.
#pragma once

#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/io/exif.h"

namespace cornea::colmap {

// SIMPLE_RADIAL, its centre in the middle, without distortion. The focal length in pixels is that
// of EXIF (focal_pixels in io/exif.h); where it says none, a guess: 1.2 times the longer side, and
// prior_focal_length is off. COLMAP also has a list of sensors by camera, Cornea has not.
CORNEA_API Camera camera_of_image(int width, int height, const std::optional<Exif>& exif);

}  // namespace cornea::colmap
