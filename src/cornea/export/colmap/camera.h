// SPDX-License-Identifier: Apache-2.0
// The camera that COLMAP would assign to an image before any reconstruction.
#pragma once

#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/io/exif.h"

namespace cornea::colmap {

// The principal point is in the middle, and there is no distortion. The focal length in pixels is
// that of EXIF (focal_pixels in io/exif.h); if EXIF has none, it is a guess of 1.2 times the longer
// side, and prior_focal_length is off. Unlike COLMAP, Cornea has no table of sensor sizes.
CORNEA_API Camera camera_of_image(int width, int height, const std::optional<Exif>& exif,
                                  CameraModel model = CameraModel::simple_radial);

// What photographs of one camera have in common by COLMAP's rule: make, model, focal length (the 35
// mm equivalent, otherwise in mm), size, and the resulting focal length in pixels. Empty if EXIF
// lacks the make, the model or the focal length.
CORNEA_API std::string camera_words(int width, int height, const std::optional<Exif>& exif);

// As COLMAP reads it: the GPS position if it has an altitude, and the direction of gravity from the
// EXIF orientation if that does not mirror. Refers to pixels as stored.
CORNEA_API PosePrior pose_prior_of(const std::optional<Exif>& exif);

}  // namespace cornea::colmap
