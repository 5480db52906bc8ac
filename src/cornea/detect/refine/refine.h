// Corners between pixels, from the image itself (W. Foerstner and E. Guelch, 1987; the method of
// cv::cornerSubPix). At a corner q every gradient in the neighbourhood is zero or at right angles
// to the line from q to it, so that q solves
//
//   sum_p w(p - q) g(p) g(p)^T (q - p) = 0
//
// over a square of 2r + 1 pixels around q, with w(d) = exp(-|d|^2 / r^2) and g the central
// difference of the bilinearly interpolated image. q is found by repetition, from the pixel that
// the detector gave. It is right for the crossings of a checkerboard, where the response of Harris
// and its kin has a rim instead of a peak, as well as for corners of one dark region.
//
// A point stays where it was, at the centre of its pixel, if the fit is not to be trusted: where
// the gradients around it have nearly one direction, where the lines at right angles to them pass
// the point found at more than 0.4 r on the average (clutter, not a corner), where it lies over
// 0.75 r away or outside the image, and where the repetition does not settle. Photographs have many
// such places; the quadratic fit to the response suits them better. Several peaks around one
// crossing meet in it; detectors return the strongest of them (PeakOptions::min_distance).
//
// Sums are made in 32 interleaved parts that are joined pairwise: a warp's order, which the CPU
// follows, so that both give the same bytes.
#pragma once

#include <span>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"

namespace cornea {

// Host image (8-bit, 16-bit or float gray); corners are moved in place. The radius r is from 1 to
// 15 pixels.
CORNEA_API void refine_corners(const Context& context, AnyView image, int radius,
                               std::span<Corner> corners);

}  // namespace cornea
