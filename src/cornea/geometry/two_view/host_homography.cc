// SPDX-License-Identifier: Apache-2.0
// The search for H on the CPU.
#include "cornea/geometry/ransac/host_ransac.h"
#include "cornea/geometry/two_view/homography_problem.h"

namespace cornea::geometry {

template std::unique_ptr<Ransac<HomographyProblem>> make_host_ransac(const Context&,
                                                                     const HomographyProblem&);

}  // namespace cornea::geometry
