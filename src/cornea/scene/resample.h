// An image moved by an affinity.
#pragma once

#include <Eigen/Core>

#include "cornea/core/context.h"
#include "cornea/core/image.h"

namespace cornea::scene {

// x_result ~ M x_image on a canvas of width x height pixels. Sampling is bicubic (Catmull & Rom).
// `least_scale` is the smallest factor by which M changes a length: where it is below 1 the image
// is blurred first, from the half pixel that a picture is taken to carry to as much in the result.
// What M uncovers takes the image's mean gray.
Image<float> resample(const Context& context, HostView<const float> image, const Eigen::Matrix3d& M,
                      int width, int height, double least_scale);

}  // namespace cornea::scene
