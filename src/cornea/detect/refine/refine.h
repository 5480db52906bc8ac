// SPDX-License-Identifier: Apache-2.0
// Subpixel refinement of corners from the image gradients (W. Foerstner and E. Guelch, 1987; the
// method of cv::cornerSubPix). At a corner q every gradient in the neighbourhood is zero or
// perpendicular to the line from q to it, so that q solves
//
//   sum_p w(p - q) g(p) g(p)^T (q - p) = 0
//
// over a square of 2r + 1 pixels around q, with w(d) = exp(-|d|^2 / r^2) and g the central
// difference of the bilinearly interpolated image. q is found iteratively, starting from the
// detector's pixel. The method is valid for the crossings of a checkerboard, where the response of
// Harris and similar detectors has a ridge instead of a peak, as well as for corners of one dark
// region.
//
// A point stays where it is if the fit is not reliable: if the gradients around it
// have nearly one direction, if the rms distance of the lines perpendicular to the gradients from
// the solution exceeds 0.4 r (clutter, not a corner), if the solution is more than 0.75 r away or
// outside the image, or if the iteration does not converge. Photographs have many such positions,
// for which the quadratic fit to the response is the better choice. Several peaks around one
// crossing converge to it; detectors return the strongest of them (PeakOptions::min_distance).
//
// Sums are computed as 32 interleaved partial sums that are combined pairwise: this is the order of
// a warp, which the CPU follows, so that both give the same bytes.
#pragma once

#include <span>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"

namespace cornea {

// Takes a host image (8-bit, 16-bit or float gray) and moves the corners in place. The radius r is
// 1 to 15 pixels.
CORNEA_API void refine_corners(const Context& context, AnyView image, int radius,
                               std::span<Corner> corners);

}  // namespace cornea
