// SPDX-License-Identifier: Apache-2.0
// Resamples an image under an affinity.
#pragma once

#include <Eigen/Core>

#include "cornea/core/context.h"
#include "cornea/core/image.h"

namespace cornea::scene {

// x_result ~ M x_image on a canvas of width x height pixels. Sampling is bicubic (Catmull-Rom).
// `least_scale` is the smallest factor by which M scales a length: if it is below 1 the image is
// blurred first, so that an input with an assumed blur of half a pixel gives a result with the same
// blur. Areas
// that M uncovers get the image's mean gray.
Image<float> resample(const Context& context, HostView<const float> image, const Eigen::Matrix3d& M,
                      int width, int height, double least_scale);

}  // namespace cornea::scene
