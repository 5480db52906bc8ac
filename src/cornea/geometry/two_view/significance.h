// SPDX-License-Identifier: Apache-2.0
// Whether random correspondences would support a model as well (a contrario: L. Moisan, B. Stival,
// "A probabilistic criterion to detect rigid point matches between two images", IJCV 2004). A fixed
// number of inliers cannot say so: among thousands of correspondences, dozens agree with a wrong
// model.
#pragma once

#include <span>

#include "cornea/core/features.h"
#include "cornea/geometry/points.h"

namespace cornea::geometry {

// -log(NFA), where the number of false alarms NFA = C(count, support) C(support, sample)
// probability^(support - sample) is the expected number of samples of random correspondences whose
// model has this support; `probability`: that one random correspondence agrees with a model.
double significance(int support, int count, int sample, double probability);

// The side, pixels, of a square in which evenly distributed points would be spread like these, the
// mean of both images. `normalisation` is that of the points themselves (points.h).
double side_of(const Normalisation& normalisation);
double side_of(std::span<const Correspondence> matches);

// Inliers of a model within a threshold, pixels, out of `count` correspondences.
struct Inliers {
  int inliers, count;
  double threshold;
};

// Whether random correspondences, spread over a square of this side, would have as many inliers of
// F or E (epipolar; samples of this size) or of H (transfer). For F and E, both the inliers and the
// support within the noise must be as few as by chance: a wide threshold alone says little.
bool random_epipolar(const Inliers& inliers, const Inliers& within_noise, int sample, double side);
bool random_transfer(const Inliers& inliers, double side);

}  // namespace cornea::geometry
