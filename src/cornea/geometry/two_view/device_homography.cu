// SPDX-License-Identifier: Apache-2.0
// The search for H on CUDA.
#include "cornea/geometry/ransac/device_ransac.h"
#include "cornea/geometry/two_view/homography_problem.h"

namespace cornea::geometry {

template std::unique_ptr<Ransac<HomographyProblem>> make_device_ransac(const Context&,
                                                                       const HomographyProblem&);

}  // namespace cornea::geometry
