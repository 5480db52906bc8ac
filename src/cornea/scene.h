// SPDX-License-Identifier: Apache-2.0
// Synthetic views and matched points with exact ground truth. A component of the package, because
// it needs Eigen: find_package(cornea COMPONENTS scene), then link cornea::scene. Like colmap.h,
// an umbrella header.
#pragma once

#include "cornea/core/build.h"

#if !CORNEA_HAS_SCENE
#error \
    "this Cornea was built without Eigen and has no scenes; build it where Eigen 3.4 is installed"
#elif !__has_include(<Eigen/Core>)
#error "cornea/scene.h needs Eigen 3.4: link cornea::scene, or add Eigen to the include path"
#else

#include "cornea/scene/camera.h"
#include "cornea/scene/checkerboard.h"
#include "cornea/scene/degrade.h"
#include "cornea/scene/matched_points.h"
#include "cornea/scene/scene.h"

#endif
