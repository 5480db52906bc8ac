// SPDX-License-Identifier: Apache-2.0
// The search for E on CUDA.
#include "cornea/geometry/ransac/device_ransac.h"
#include "cornea/geometry/two_view/essential_problem.h"

namespace cornea::geometry {

template std::unique_ptr<Ransac<EssentialProblem>> make_device_ransac(const Context&,
                                                                      const EssentialProblem&);
template std::unique_ptr<Ransac<SharedFocalProblem>> make_device_ransac(const Context&,
                                                                        const SharedFocalProblem&);

}  // namespace cornea::geometry
