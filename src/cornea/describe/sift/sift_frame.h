// SPDX-License-Identifier: Apache-2.0
// Formulas of affine shape and of domain-size pooling that the CPU and CUDA share.
//
// A point's frame is scale * A R: R is the rotation by its angle, and A is symmetric with the
// eigenvalues 1 and stretch >= 1. The frame maps the normalised plane, in which the point is round,
// to pixels; without affine shape A = I. A gradient g of the image is A^T g there.
#pragma once

#include <cmath>

#include "cornea/describe/sift/sift_math.h"

namespace cornea::sift {

// ---------------------------------------------------------------------------------------------
// Affine shape.

inline constexpr int kShapeSteps = 5;
inline constexpr int kShapeGrid = 12;          // samples along the window's side
inline constexpr float kShapeSpacing = 1.25f;  // between samples, in scales of the point
inline constexpr float kShapeSigma = 3;        // of the window, in scales of the point
inline constexpr float kMostStretch = 5;       // largest stretch of a shape
inline constexpr int kShapeParts = 32;  // partial sums, to which the samples are added cyclically
inline constexpr int kAngleGrid = 16;   // samples along the side of the orientation window
inline constexpr float kAngleSpacing = 0.5625f;  // between these samples, in scales of the point

// The level from which shapes, orientations and descriptors of ellipses are computed: one below the
// point's own. The blur of a level is round in the image and therefore too short along the longer
// axis in the normalised plane; with less blur, views of different stretch differ less.
CORNEA_HD inline int affine_level(int own) { return own > 0 ? own - 1 : 0; }

// The symmetric matrix A.
struct PointShape {
  float xx = 1, xy = 0, yy = 1;
};
// The weighted sum of g g^T over a window.
struct Moments {
  float xx, xy, yy;
};

// The shape with A^2 proportional to the inverse of the moments, scaled so that its smaller
// eigenvalue is 1. A = I for flat windows and for windows with pixels that are not finite.
CORNEA_HD inline PointShape shape_of(const Moments& m) {
  const float mean = 0.5f * (m.xx + m.yy), half = 0.5f * (m.xx - m.yy);
  const float radius = sqrtf(half * half + m.xy * m.xy);
  const float least = mean - radius, most = mean + radius;
  if (!(radius > 0 && most < 1e30f)) return {};
  const bool fits = least * (kMostStretch * kMostStretch) > most;
  const float stretch = fits ? sqrtf(most / least) : kMostStretch;
  const float e = (stretch - 1.0f) / (2.0f * radius);
  return {1.0f + e * (m.yy - least), -e * m.xy, 1.0f + e * (m.xx - least)};
}

CORNEA_HD inline float stretch_of(const PointShape& a) { return (a.xx + a.yy) - 1.0f; }
// The direction of the longer axis in turns, in [0, 1/2].
CORNEA_HD inline float axis_turn(const PointShape& a) {
  return 0.5f * turn_of(2.0f * a.xy, a.xx - a.yy);
}
// The weights along one axis of the moment window and of the orientation window.
CORNEA_HD inline float grid_weight(int i, int samples, float spacing, float sigma) {
  const float d = (static_cast<float>(i) - 0.5f * static_cast<float>(samples - 1)) * spacing;
  return power_of_two(-0.72134752f / (sigma * sigma) * (d * d));
}

// ---------------------------------------------------------------------------------------------
// Angles in the normalised plane and in the image, in turns.

CORNEA_HD inline float below_one(float turn) { return turn < 1.0f ? turn : 0.0f; }
// The angle of the frame's first column in the image.
CORNEA_HD inline float image_turn(const PointShape& a, float turn) {
  const Rotation r = rotation_of(turn);
  return below_one(turn_of(a.xy * r.cosine + a.yy * r.sine, a.xx * r.cosine + a.xy * r.sine));
}
// The inverse: the angle of R for which the first column has the given angle in the image.
CORNEA_HD inline float normalised_turn(const PointShape& a, float turn) {
  const Rotation r = rotation_of(turn);
  return below_one(turn_of(a.xx * r.sine - a.xy * r.cosine, a.yy * r.cosine - a.xy * r.sine));
}

// A feature in the coordinates of the image.
CORNEA_HD inline Keypoint affine_keypoint(const SiftPoint& p, const PointShape& a, float step,
                                          float origin, int octave_index, float turn) {
  Keypoint k = keypoint_of(p, step, origin, octave_index, image_turn(a, turn));
  k.stretch = stretch_of(a);
  k.axis = axis_turn(a) * kTurn;
  return k;
}

// Sets the orientation and the shape that describe() has found for a point of another detector.
CORNEA_HD inline void set_frame(Keypoint& point, const Keypoint& found) {
  point.angle = found.angle;
  point.stretch = found.stretch;
  point.axis = found.axis;
}

// ---------------------------------------------------------------------------------------------
// Samples.

// Sample (i, j) of a grid, i across and j down, lies at (x, y) + i (ux, uy) + j (vx, vy).
struct SampleFrame {
  float x, y;            // of sample (0, 0)
  float ux, uy, vx, vy;  // from one sample to the next, across and down
  float ax, ay, bx, by;  // the columns of A R, on which gradients are projected
};
CORNEA_HD inline SampleFrame frame_with(float x, float y, float spacing, int samples, float ax,
                                        float ay, float bx, float by) {
  const float half = 0.5f * static_cast<float>(samples - 1);
  const float ux = spacing * ax, uy = spacing * ay, vx = spacing * bx, vy = spacing * by;
  return {x - half * (ux + vx), y - half * (uy + vy), ux, uy, vx, vy, ax, ay, bx, by};
}
// The frame of a round point.
CORNEA_HD inline SampleFrame round_frame(float x, float y, float spacing, int samples, float turn) {
  const Rotation r = rotation_of(turn);
  return frame_with(x, y, spacing, samples, r.cosine, r.sine, -r.sine, r.cosine);
}
CORNEA_HD inline SampleFrame turned_frame(float x, float y, float spacing, int samples,
                                          const PointShape& a, float turn) {
  const Rotation r = rotation_of(turn);
  return frame_with(x, y, spacing, samples, a.xx * r.cosine + a.xy * r.sine,
                    a.xy * r.cosine + a.yy * r.sine, a.xy * r.cosine - a.xx * r.sine,
                    a.yy * r.cosine - a.xy * r.sine);
}
// Along the axes of the image: the samples of shape adaptation and orientations.
CORNEA_HD inline SampleFrame upright_frame(float x, float y, float spacing, int samples,
                                           const PointShape& a) {
  return frame_with(x, y, spacing, samples, a.xx, a.xy, a.xy, a.yy);
}

// ---------------------------------------------------------------------------------------------
// Domain-size pooling.

inline constexpr int kSizes = 10;
// Samples per side of a cell: fewer, because the sum over all sizes compensates for it.
inline constexpr int kPooledPerCell = 3;
// Size k of a domain relative to the point's own: from 1/6 on, in ten equal steps towards 3.
CORNEA_HD constexpr float domain_size(int k) {
  return static_cast<float>(1.0 / 6 + k * ((3 - 1.0 / 6) / kSizes));
}
inline constexpr float kLargestSize = domain_size(kSizes - 1);

// The level, relative to the point's own, whose blur matches a size best.
struct SizeLevels {
  int offset[kSizes] = {};
  int levels = 0;  // per octave
  CORNEA_HD int at(int own, int k) const {
    const int l = own + offset[k];
    return l < 0 ? 0 : l < levels ? l : levels - 1;
  }
};

}  // namespace cornea::sift
