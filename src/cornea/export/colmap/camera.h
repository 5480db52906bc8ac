// The camera that COLMAP would take an image for, before it has seen any other.
#pragma once

#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/io/exif.h"

namespace cornea::colmap {

// Its centre in the middle, without distortion. The focal length in pixels is that of EXIF
// (focal_pixels in io/exif.h); where it says none, a guess: 1.2 times the longer side, and
// prior_focal_length is off. COLMAP also has a list of sensors by camera, Cornea has not.
CORNEA_API Camera camera_of_image(int width, int height, const std::optional<Exif>& exif,
                                  CameraModel model = CameraModel::simple_radial);

// What photographs of one camera have in common by COLMAP's rule: make, model, focal length (the 35
// mm equivalent, otherwise that in mm) and size, and the focal length in pixels that they give.
// Empty where EXIF says no make, no model or no focal length.
CORNEA_API std::string camera_words(int width, int height, const std::optional<Exif>& exif);

// As COLMAP reads it: the position of GPS where it has an altitude, and gravity by the orientation
// that the file says, where that mirrors nothing. Pixels are those that are stored.
CORNEA_API PosePrior pose_prior_of(const std::optional<Exif>& exif);

}  // namespace cornea::colmap
