// SPDX-License-Identifier: Apache-2.0
// Formulas and constants of SIFT that the CPU and CUDA share. Templates over F take a float or a
// short vector of floats.
//
// Internally angles are measured in turns (1 turn is 2 pi radians), from x towards y.
#pragma once

#include <cstdint>
#include <cstring>

#include "cornea/core/features.h"
#include "cornea/core/host_device.h"
#include "cornea/core/pixels.h"
#include "cornea/describe/sift/sift.h"

namespace cornea::sift {

inline constexpr int kSiftBorder = 5;  // pixels at an octave's borders without points
inline constexpr int kFitSteps = 5;    // most fits per extremum
// A lenient fit moves on if it points farther than this, pixels.
inline constexpr float kLenientMove = 0.6f;
// Largest offset of the last lenient fit, pixels and levels.
inline constexpr float kLenientMost = 1.5f;
inline constexpr int kAngleBins = 36;  // of the orientation histogram
// Partial histograms, to which the window's pixels are added cyclically.
inline constexpr int kAngleParts = 32;
inline constexpr float kAngleSigma = 1.5f;  // of its Gaussian window, in scales of the point
// Orientation threshold: least height of a further peak, relative to the highest.
inline constexpr float kAngleShare = 0.8f;
inline constexpr int kMostAngles = 8;
inline constexpr int kCells = 4;                       // per side of the descriptor
inline constexpr int kDirections = 8;                  // per cell
inline constexpr int kPerCell = 4;                     // samples per side of a cell
inline constexpr int kGrid = (kCells + 1) * kPerCell;  // samples per side of the descriptor's grid
inline constexpr float kCellScales = 3;                // side of a cell, in scales of the point
inline constexpr float kDescriptorCut = 0.2f;  // values are clamped at this share of the norm
inline constexpr int kDescriptorLength = kCells * kCells * kDirections;

// A point in pixels of its octave.
struct SiftPoint {
  float x, y, scale;
  float response;       // |D|
  std::int32_t octave;  // 0: the first
  std::int32_t level;   // nearest to its scale
};

inline constexpr int kMostIntervals = 8;

struct SiftLimits {
  int intervals;
  float contrast;  // least |D|
  float edge;      // (r + 1)^2 / r for the largest ratio r of curvatures; 0: no edge test
  float sigma;     // of level 0
  Settling settle;
};

// ---------------------------------------------------------------------------------------------
// Pixels, as floats of 0..1.

CORNEA_HD inline float unit_value(std::uint8_t v) { return static_cast<float>(v) * (1.0f / 255); }
CORNEA_HD inline float unit_value(std::uint16_t v) {
  return static_cast<float>(v) * (1.0f / 65535);
}
CORNEA_HD inline float unit_value(float v) { return v; }
template <class T>
CORNEA_HD inline float unit_value(const Rgb<T>& v) {
  return unit_value(core::gray_value(v));
}
// A pixel of the doubled image from the two nearest pixels of the image, the nearer one first.
// Pixels 2x and 2x + 1 of the doubled image lie a quarter of a pixel before and after pixel x of
// the image.
CORNEA_HD inline float between(float near, float far) { return 0.75f * near + 0.25f * far; }
inline constexpr float kDoubledOffset = -0.25f;  // position of the doubled image's first pixel

// ---------------------------------------------------------------------------------------------
// Functions.

template <class F>
CORNEA_HD inline F absolute(F v) {
  return v < F{} ? -v : v;
}
template <class F>
CORNEA_HD inline F mix(F a, F b, F share_of_b) {
  return a + share_of_b * (b - a);
}

// The direction of (x, y) in turns, 0 to 1, both included; the error is 1e-7.
template <class F>
CORNEA_HD inline F turn_of(F y, F x) {
  const F ax = absolute(x), ay = absolute(y);
  const F large = ax > ay ? ax : ay, small = ax > ay ? ay : ax;
  const F a = small / (large > F{} ? large : F{} + 1.0f);
  const F z = a * a;
  F t = 0.00127433736f * z - 0.0059592336f;
  t = t * z + 0.0134253676f;
  t = t * z - 0.0215052939f;
  t = t * z + 0.0316516541f;
  t = t * z - 0.0530415891f;
  t = (t * z + 0.15915485f) * a;
  t = ay > ax ? 0.25f - t : t;
  t = x < F{} ? 0.5f - t : t;
  return y < F{} ? 1.0f - t : t;
}

// 2^e for |e| < 126, with a relative error of 2e-7.
CORNEA_HD inline float power_of_two(float e) {
  const int whole = static_cast<int>(e + (e < 0 ? -0.5f : 0.5f));
  const float f = e - static_cast<float>(whole);
  float p = 0.000154780219f * f + 0.00134004317f;
  p = p * f + 0.00961799452f;
  p = p * f + 0.0555032722f;
  p = p * f + 0.240226515f;
  p = p * f + 0.693147207f;
  p = p * f + 1.0f;
  const std::uint32_t bits = static_cast<std::uint32_t>(whole + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

struct Rotation {
  float cosine, sine;
};
CORNEA_HD inline Rotation rotation_of(float turn) {
  const int quarter = static_cast<int>(turn * 4.0f + 0.5f);
  const float r = turn - static_cast<float>(quarter) * 0.25f, z = r * r;
  float s = 41.4729517f * z - 76.69787f;
  s = s * z + 81.6052047f;
  s = s * z - 41.3417022f;
  s = (s * z + 6.28318531f) * r;
  float c = 59.2204071f * z - 85.4428521f;
  c = c * z + 64.9393162f;
  c = c * z - 19.7392087f;
  c = c * z + 1.0f;
  switch (quarter & 3) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

inline constexpr float kTurn = 6.2831853072f;  // radians
// ---------------------------------------------------------------------------------------------
// Points. `dog(l, x, y)` is D_l.

// Whether a pixel is positive and the largest, or negative and the smallest, of its 3 x 3 x 3
// neighbourhood; ties keep the first by level, row and column.
template <class Dog>
CORNEA_HD inline bool is_extremum(const Dog& dog, int l, int x, int y) {
  const float v = dog(l, x, y);
  const float sign = v > 0 ? 1.0f : -1.0f, height = v * sign;
  bool beaten = v == 0;
  CORNEA_UNROLL
  for (int k = -1; k < 2; ++k) {
    CORNEA_UNROLL
    for (int j = -1; j < 2; ++j) {
      CORNEA_UNROLL
      for (int i = -1; i < 2; ++i) {
        const float other = sign * dog(l + k, x + i, y + j);
        const bool before = k < 0 || (k == 0 && (j < 0 || (j == 0 && i < 0)));
        beaten |= before ? other >= height : other > height;
      }
    }
  }
  return !beaten;
}

// The quadratic fit to D around a pixel: the offset of its extremum, D there, and the curvatures in
// x and y.
struct SiftFit {
  float dx, dy, dl;
  float value;
  float trace, determinant;
  bool solved;
};

template <class Dog>
CORNEA_HD inline SiftFit fit_at(const Dog& dog, int l, int x, int y) {
  const float v = dog(l, x, y), twice = 2.0f * v;
  const float left = dog(l, x - 1, y), right = dog(l, x + 1, y);
  const float up = dog(l, x, y - 1), down = dog(l, x, y + 1);
  const float below = dog(l - 1, x, y), above = dog(l + 1, x, y);
  const float gx = 0.5f * (right - left), gy = 0.5f * (down - up), gl = 0.5f * (above - below);
  const float xx = (right + left) - twice, yy = (down + up) - twice, ll = (above + below) - twice;
  const float xy = 0.25f * ((dog(l, x + 1, y + 1) - dog(l, x - 1, y + 1)) -
                            (dog(l, x + 1, y - 1) - dog(l, x - 1, y - 1)));
  const float xl = 0.25f * ((dog(l + 1, x + 1, y) - dog(l + 1, x - 1, y)) -
                            (dog(l - 1, x + 1, y) - dog(l - 1, x - 1, y)));
  const float yl = 0.25f * ((dog(l + 1, x, y + 1) - dog(l + 1, x, y - 1)) -
                            (dog(l - 1, x, y + 1) - dog(l - 1, x, y - 1)));
  // Cramer's rule with the cofactors of the symmetric matrix.
  const float c00 = yy * ll - yl * yl, c01 = xl * yl - xy * ll, c02 = xy * yl - yy * xl;
  const float c11 = xx * ll - xl * xl, c12 = xy * xl - xx * yl, c22 = xx * yy - xy * xy;
  const float determinant = (xx * c00 + xy * c01) + xl * c02;
  SiftFit fit;
  fit.solved = determinant != 0;
  const float scale = fit.solved ? -1.0f / determinant : 0.0f;
  fit.dx = scale * ((c00 * gx + c01 * gy) + c02 * gl);
  fit.dy = scale * ((c01 * gx + c11 * gy) + c12 * gl);
  fit.dl = scale * ((c02 * gx + c12 * gy) + c22 * gl);
  fit.value = v + 0.5f * ((gx * fit.dx + gy * fit.dy) + gl * fit.dl);
  fit.trace = xx + yy;
  fit.determinant = c22;
  return fit;
}

struct LevelPixel {
  int level, x, y;
};

// Whether points may lie at a pixel of an octave of this size.
CORNEA_HD inline bool has_points(const LevelPixel& at, int width, int height, int intervals) {
  return at.level >= 1 && at.level <= intervals && at.x >= kSiftBorder && at.y >= kSiftBorder &&
         at.x < width - kSiftBorder && at.y < height - kSiftBorder;
}

// Follows the fits from an extremum's pixel to one whose fit stays within half a pixel of it;
// returns false if there is none.
template <class Dog>
CORNEA_HD inline bool settle_strictly(const Dog& dog, int width, int height, int intervals,
                                      LevelPixel& at, SiftFit& fit) {
  for (int step = 0; step < kFitSteps; ++step) {
    fit = fit_at(dog, at.level, at.x, at.y);
    if (!fit.solved) return false;
    const float ax = absolute(fit.dx), ay = absolute(fit.dy), al = absolute(fit.dl);
    if (ax < 0.5f && ay < 0.5f && al < 0.5f) return true;
    // Farther than any octave is wide, or NaN.
    if (!(ax < 1e6f && ay < 1e6f && al < 1e6f)) return false;
    at.x += static_cast<int>(fit.dx + (fit.dx < 0 ? -0.5f : 0.5f));
    at.y += static_cast<int>(fit.dy + (fit.dy < 0 ? -0.5f : 0.5f));
    at.level += static_cast<int>(fit.dl + (fit.dl < 0 ? -0.5f : 0.5f));
    if (!has_points(at, width, height, intervals)) return false;
  }
  return false;
}

// Follows the fits within an extremum's own level, one pixel at a time (after VLFeat's sift.c).
template <class Dog>
CORNEA_HD inline bool settle_in_level(const Dog& dog, int width, int height, int intervals,
                                      LevelPixel& at, SiftFit& fit) {
  auto step_of = [](float offset) {
    return offset > kLenientMove ? 1 : offset < -kLenientMove ? -1 : 0;
  };
  fit = fit_at(dog, at.level, at.x, at.y);
  for (int step = 1; step < kFitSteps; ++step) {
    const int dx = step_of(fit.dx), dy = step_of(fit.dy);
    if (dx == 0 && dy == 0) break;
    at.x += dx;
    at.y += dy;
    if (!has_points(at, width, height, intervals)) return false;
    fit = fit_at(dog, at.level, at.x, at.y);
  }
  // Also false if an offset is NaN.
  return fit.solved && absolute(fit.dx) < kLenientMost && absolute(fit.dy) < kLenientMost &&
         absolute(fit.dl) < kLenientMost;
}

// Moves from an extremum's pixel to the one whose fit is the point; returns false if there is none.
template <class Dog>
CORNEA_HD inline bool settle(const Dog& dog, int width, int height, const SiftLimits& limits,
                             LevelPixel& at, SiftFit& fit) {
  const LevelPixel from = at;
  if (settle_strictly(dog, width, height, limits.intervals, at, fit)) return true;
  if (limits.settle == Settling::strict) return false;
  at = from;
  return settle_in_level(dog, width, height, limits.intervals, at, fit);
}

// The contrast test and the edge test.
CORNEA_HD inline bool is_stable(const SiftFit& fit, const SiftLimits& limits) {
  if (!(absolute(fit.value) >= limits.contrast)) return false;
  if (limits.edge == 0) return true;
  return fit.determinant > 0 && fit.trace * fit.trace < limits.edge * fit.determinant;
}

// The point is described from the level nearest to its scale among those that are searched for
// points: a lenient fit may point to a level other than its own.
CORNEA_HD inline SiftPoint point_of(const LevelPixel& at, const SiftFit& fit, int octave,
                                    const SiftLimits& limits) {
  const float level = static_cast<float>(at.level) + fit.dl;
  const int step = fit.dl >= 0.5f && at.level < limits.intervals ? 1
                   : fit.dl <= -0.5f && at.level > 1             ? -1
                                                                 : 0;
  return {static_cast<float>(at.x) + fit.dx,
          static_cast<float>(at.y) + fit.dy,
          limits.sigma * power_of_two(level / static_cast<float>(limits.intervals)),
          absolute(fit.value),
          octave,
          at.level + step};
}

// A feature in the coordinates of the image.
CORNEA_HD inline Keypoint keypoint_of(const SiftPoint& p, float step, float origin,
                                      int octave_index, float turn) {
  return {p.x * step + origin, p.y * step + origin, p.scale * step, turn * kTurn,
          p.response,          octave_index,        1.0f,           0.0f};
}

// The value by which caps rank points; `step` is the size of a pixel of the point's octave in
// pixels of the image.
CORNEA_HD inline float rank_of(const SiftPoint& p, float step, KeepPoints keep) {
  if (keep == KeepPoints::contrast) return p.response;
  const float scale = p.scale * step;
  return keep == KeepPoints::scale ? scale : p.response * (scale * scale);
}

// The pixel of the image's mask at a point of an octave, and the row or column of grid cells that
// contains a coordinate.
struct MaskPixel {
  int x, y;
};
CORNEA_HD inline MaskPixel mask_pixel(float x, float y, int width, int height) {
  const int column = static_cast<int>(x + 0.5f), row = static_cast<int>(y + 0.5f);
  return {column < width ? column : width - 1, row < height ? row : height - 1};
}
CORNEA_HD inline int cell_index(float coordinate, int cell) {
  return static_cast<int>(coordinate) / cell;
}

// ---------------------------------------------------------------------------------------------
// Orientations.

// The disc of gradients of a point: the pixels within `radius` of the pixel nearest to it.
struct AngleWindow {
  int x, y, radius;
  float exponent;  // a pixel at distance d from the point has the weight 2^(exponent d^2)
};
CORNEA_HD inline AngleWindow angle_window(const SiftPoint& p) {
  const float sigma = kAngleSigma * p.scale;
  return {static_cast<int>(p.x + 0.5f), static_cast<int>(p.y + 0.5f),
          static_cast<int>(3.0f * sigma + 0.5f), -0.72134752f / (sigma * sigma)};
}
CORNEA_HD inline float axis_weight(float exponent, float distance) {
  const float e = exponent * (distance * distance);
  return power_of_two(e < -125.0f ? -125.0f : e);
}
CORNEA_HD inline int angle_bin(float turn) {
  const int bin = static_cast<int>(turn * kAngleBins + 0.5f);
  // A full circle is bin 0.
  return static_cast<unsigned>(bin) < kAngleBins ? bin : 0;
}
// A bin after smoothing; `h(i)` is the histogram, for any i from -2 to kAngleBins + 1.
template <class Histogram>
CORNEA_HD inline float smooth_bin(const Histogram& h, int i) {
  return ((h(i - 2) + h(i + 2)) * (1.0f / 16) + (h(i - 1) + h(i + 1)) * (4.0f / 16)) +
         h(i) * (6.0f / 16);
}
// Whether a bin is a peak of at least kAngleShare of the highest. Ties between neighbours go to the
// first.
CORNEA_HD inline bool is_angle_peak(float before, float height, float after, float highest) {
  return height > before && height >= after && height >= kAngleShare * highest;
}
// The angle of a local peak, in turns: the maximum of the parabola through the bin and its
// neighbours.
CORNEA_HD inline float peak_turn(int bin, float before, float height, float after) {
  const float offset = 0.5f * (before - after) / ((before - 2.0f * height) + after);
  const float turn = (static_cast<float>(bin) + offset) * (1.0f / kAngleBins);
  const float positive = turn < 0 ? turn + 1.0f : turn;
  return positive < 1.0f ? positive : 0.0f;  // a value just below 0 may round to a full turn
}

// ---------------------------------------------------------------------------------------------
// Descriptors.

// The distance between samples of the grid, for `per_cell` samples per side of a cell.
CORNEA_HD inline float descriptor_spacing(float scale, int per_cell = kPerCell) {
  return scale * (kCellScales / static_cast<float>(per_cell));
}

// The weights of a sample along one axis: that of the Gaussian, and the share of the second of the
// two cells between which it lies. Sample i lies between cells i / per_cell - 1 and i / per_cell.
CORNEA_HD inline float sample_weight(int i, int per_cell = kPerCell) {
  const float middle = 0.5f * static_cast<float>((kCells + 1) * per_cell - 1);
  const float cells = (static_cast<float>(i) - middle) * (1.0f / static_cast<float>(per_cell));
  return power_of_two(-0.18033688f * (cells * cells));  // exp(-cells^2 / 8)
}
CORNEA_HD inline float second_share(int i, int per_cell = kPerCell) {
  return (static_cast<float>(i % per_cell) + 0.5f) * (1.0f / static_cast<float>(per_cell));
}

// Whether the 4 x 4 pixels around a sample all lie inside the level; other samples are skipped.
CORNEA_HD inline bool is_sampled(float x, float y, int width, int height) {
  return x >= 1 && y >= 1 && x < static_cast<float>(width - 2) &&
         y < static_cast<float>(height - 2);
}

// Distributes a magnitude between the two neighbouring directions; `direction` lies in
// 0..kDirections.
struct DirectionShares {
  int first, second;
  float to_first, to_second;
};
CORNEA_HD inline DirectionShares direction_shares(float direction, float magnitude) {
  const int whole = static_cast<int>(direction);
  const float to_second = magnitude * (direction - static_cast<float>(whole));
  // Masked, so that even results of infinite pixels stay inside the histogram.
  return {whole & (kDirections - 1), (whole + 1) & (kDirections - 1), magnitude - to_second,
          to_second};
}

// One byte of the descriptor from a value that is scaled to a norm of 512.
CORNEA_HD inline std::uint8_t descriptor_byte(float scaled) {
  const float rounded = scaled + 0.5f;
  return static_cast<std::uint8_t>(rounded >= 255.0f ? 255.0f : rounded);
}

}  // namespace cornea::sift
