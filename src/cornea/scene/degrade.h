// SPDX-License-Identifier: Apache-2.0
// Degrades a picture: it is rotated, scaled, blurred, changed in contrast and brightness, made
// noisy and compressed, in this order, while the geometry stays known exactly.
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/image.h"
#include "cornea/scene/camera.h"

namespace cornea {

struct CORNEA_API Degradation {
  double rotate_degrees = 0.0;  // about the image's centre, clockwise on the screen
  double scale = 1.0;           // of the content and the canvas, 1/64..64
  double blur = 0.0;            // Gaussian sigma, pixels of the result
  double contrast = 1.0;        // factor about middle gray, 0 or more
  double brightness = 0.0;      // offset, gray levels of 0..255
  double noise = 0.0;           // standard deviation, gray levels of 0..255
  int jpeg_quality = 0;         // 1..100; 0: not compressed
  std::uint64_t seed = 1;       // of the noise

  void validate() const;  // throws invalid_argument
};

struct Degraded {
  Image<float> image = {};                                      // 0..1
  Eigen::Matrix3d from_original = Eigen::Matrix3d::Identity();  // x_degraded ~ M x_original, pixels
};

// The canvas keeps its aspect ratio: round(scale width) x round(scale height), at least 1 x 1.
// Areas uncovered by a rotation get the image's mean gray. Sampling is bicubic (Catmull-Rom), after
// an antialiasing blur if the image becomes smaller. The noise of a pixel depends only on (seed, y,
// x).
CORNEA_API Degraded degrade(const Context& context, HostView<const float> image,
                            const Degradation& how);

// The similarity that degrade() applies to an image of this size: x_degraded ~ M x_original.
CORNEA_API Eigen::Matrix3d degraded_from_original(int width, int height, const Degradation& how);

// The camera that takes the degraded picture: fundamental() and plane_homography() are valid for
// it.
CORNEA_API Camera degraded_camera(const Camera& camera, const Degradation& how);

}  // namespace cornea
