// A camera of a COLMAP database as Cornea's.
#pragma once

#include <optional>
#include <string>

#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/geometry/two_view/intrinsics.h"

namespace cornea::colmap {

// "OPENCV_FISHEYE"; "model 99" where COLMAP 4.2 has no such model.
CORNEA_API std::string name_of_model(int model);

// One of the five of CameraModel by COLMAP's name; none of another name.
CORNEA_API std::optional<CameraModel> model_named(const std::string& name);
CORNEA_API std::size_t parameter_count(CameraModel model);

// Of the models SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL and OPENCV, which are Cornea's with
// some numbers 0 or equal; none of the others. The principal point is moved by the half pixel
// between COLMAP's coordinates and Cornea's. DamagedRow where the model has another number of
// parameters, where one of them is not finite, or where a focal length is not positive.
CORNEA_API std::optional<Intrinsics> intrinsics_of(const Camera& camera);

}  // namespace cornea::colmap
