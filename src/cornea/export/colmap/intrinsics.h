// SPDX-License-Identifier: Apache-2.0
// Converts a camera of a COLMAP database to Cornea's intrinsics.
#pragma once

#include <optional>
#include <string>

#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/geometry/two_view/intrinsics.h"

namespace cornea::colmap {

// For example "OPENCV_FISHEYE"; "model 99" if COLMAP 4.2 has no such model.
CORNEA_API std::string name_of_model(int model);

// The model with this COLMAP name; empty if it is not one of the five of CameraModel.
CORNEA_API std::optional<CameraModel> model_named(const std::string& name);
CORNEA_API std::size_t parameter_count(CameraModel model);

// Supports the models SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL and OPENCV, which are special
// cases of Cornea's; empty for the others. The principal point is shifted by the half pixel between
// COLMAP's and Cornea's coordinates. DamagedRow if the number of parameters is wrong, a parameter
// is not finite, or a focal length is not positive.
CORNEA_API std::optional<Intrinsics> intrinsics_of(const Camera& camera);

}  // namespace cornea::colmap
