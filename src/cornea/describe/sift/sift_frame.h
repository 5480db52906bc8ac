// Formulas of affine shape and of domain-size pooling that the CPU and CUDA share.
//
// A point's frame is scale * A R: R turns by its angle, and A is symmetric, its smaller eigenvalue
// 1 and its larger one the stretch. The frame maps the plane in which the point is round, the
// normalised one, to pixels; without affine shape A = 1. A gradient g of the image is A^T g there.
#pragma once

#include <cmath>

#include "cornea/describe/sift/sift_math.h"

namespace cornea::sift {

// ---------------------------------------------------------------------------------------------
// Affine shape.

inline constexpr int kShapeSteps = 5;
inline constexpr int kShapeGrid = 12;            // samples along the window's side
inline constexpr float kShapeSpacing = 1.25f;    // between samples, in scales of the point
inline constexpr float kShapeSigma = 3;          // of the window, in scales of the point
inline constexpr float kMostStretch = 5;         // of a shape
inline constexpr int kShapeParts = 32;           // sums that are added, in turn for the samples
inline constexpr int kAngleGrid = 16;            // samples along the side of the angles' window
inline constexpr float kAngleSpacing = 0.5625f;  // between them, in scales of the point

// The level that shapes, angles and descriptors of ellipses are made from: one below the point's
// own. A level's blur is round in the image, and on the normalised plane too short along the longer
// axis; with less of it, views of different stretch differ less.
CORNEA_HD inline int affine_level(int own) { return own > 0 ? own - 1 : 0; }

// A, symmetric.
struct PointShape {
  float xx = 1, xy = 0, yy = 1;
};
// The weighted sum of g g^T over a window.
struct Moments {
  float xx, xy, yy;
};

// The shape whose A^2 is the inverse of the moments, scaled so that its smaller eigenvalue is 1. Of
// flat windows, and of those with pixels that are not finite, A = 1.
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
// Of the longer axis, in [0, 1/2].
CORNEA_HD inline float axis_turn(const PointShape& a) {
  return 0.5f * turn_of(2.0f * a.xy, a.xx - a.yy);
}
// Sampling weights along one axis of the window of moments and of that of angles.
CORNEA_HD inline float grid_weight(int i, int samples, float spacing, float sigma) {
  const float d = (static_cast<float>(i) - 0.5f * static_cast<float>(samples - 1)) * spacing;
  return power_of_two(-0.72134752f / (sigma * sigma) * (d * d));
}

// ---------------------------------------------------------------------------------------------
// Turns in the normalised plane and in the image.

CORNEA_HD inline float below_one(float turn) { return turn < 1.0f ? turn : 0.0f; }
// The turn of the frame's first column in the image.
CORNEA_HD inline float image_turn(const PointShape& a, float turn) {
  const Rotation r = rotation_of(turn);
  return below_one(turn_of(a.xy * r.cosine + a.yy * r.sine, a.xx * r.cosine + a.xy * r.sine));
}
// And the other way: the turn of R that brings the first column to a turn of the image.
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

// What describe() finds for a point of another detector.
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
  float ux, uy, vx, vy;  // from a sample to the next one across and down
  float ax, ay, bx, by;  // the columns of A R, on which gradients are projected
};
CORNEA_HD inline SampleFrame frame_with(float x, float y, float spacing, int samples, float ax,
                                        float ay, float bx, float by) {
  const float half = 0.5f * static_cast<float>(samples - 1);
  const float ux = spacing * ax, uy = spacing * ay, vx = spacing * bx, vy = spacing * by;
  return {x - half * (ux + vx), y - half * (uy + vy), ux, uy, vx, vy, ax, ay, bx, by};
}
// Of a point without a shape.
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
// Along the axes of the image: what adaptation and angles sample.
CORNEA_HD inline SampleFrame upright_frame(float x, float y, float spacing, int samples,
                                           const PointShape& a) {
  return frame_with(x, y, spacing, samples, a.xx, a.xy, a.xy, a.yy);
}

// ---------------------------------------------------------------------------------------------
// Domain-size pooling.

inline constexpr int kSizes = 10;
// Samples along a side of a cell: the mean over all sizes makes up for fewer of them.
inline constexpr int kPooledPerCell = 3;
// Size k of a domain, in sizes of the point's own: from 1/6 on, in tenths of the way to 3.
CORNEA_HD constexpr float domain_size(int k) {
  return static_cast<float>(1.0 / 6 + k * ((3 - 1.0 / 6) / kSizes));
}
inline constexpr float kLargestSize = domain_size(kSizes - 1);

// Levels from a point's own to the one whose blur fits a size best.
struct SizeLevels {
  int offset[kSizes] = {};
  int levels = 0;  // of an octave
  CORNEA_HD int at(int own, int k) const {
    const int l = own + offset[k];
    return l < 0 ? 0 : l < levels ? l : levels - 1;
  }
};

}  // namespace cornea::sift
