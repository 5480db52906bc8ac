// SPDX-License-Identifier: Apache-2.0
// The results of detectors and matchers. Coordinates: x right, y down, in pixels; the centre of the
// first pixel is (0, 0).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cornea {

struct Corner {
  float x = 0, y = 0;
  float response = 0;  // in the detector's own units
  friend bool operator==(const Corner&, const Corner&) = default;
};

struct Keypoint {
  float x = 0, y = 0;
  float scale = 0;  // sigma of the blur where it was found, pixels of the input image
  float angle = 0;  // radians, from x towards y
  float response = 0;
  std::int32_t octave = 0;
  // Affine shape: the point is an ellipse whose shorter axis is `scale` and whose longer one is
  // `stretch` times that, in direction `axis` (radians of 0..pi, from x towards y). `angle` is the
  // direction of its frame's first column (affine_frame() below).
  float stretch = 1;
  float axis = 0;
  friend bool operator==(const Keypoint&, const Keypoint&) = default;
};

// The matrix that maps the unit circle to a point's ellipse, and the x axis to the direction of its
// angle: the shape that COLMAP stores. Without a stretch, scale * [cos, -sin; sin, cos].
struct AffineFrame {
  double a11 = 1, a12 = 0, a21 = 0, a22 = 1;
};
inline AffineFrame affine_frame(const Keypoint& k) {
  const double c = std::cos(double(k.angle)), s = std::sin(double(k.angle)), scale = k.scale;
  if (k.stretch == 1) return {scale * c, -scale * s, scale * s, scale * c};
  // A is symmetric with eigenvalues 1 and stretch. The frame is scale * A R, where R rotates the x
  // axis to the direction that A maps to the angle.
  const double more = double(k.stretch) - 1, p = std::cos(double(k.axis));
  const double q = std::sin(double(k.axis));
  const double xx = 1 + more * p * p, xy = more * p * q, yy = 1 + more * q * q;
  const double x = yy * c - xy * s, y = xx * s - xy * c, length = std::sqrt(x * x + y * y);
  const double u = scale * x / length, v = scale * y / length;
  return {xx * u + xy * v, xy * u - xx * v, xy * u + yy * v, yy * u - xy * v};
}

// Keypoints and their descriptors: kLength bytes per point, in the order of the points.
struct Features {
  static constexpr int kLength = 128;
  std::vector<Keypoint> keypoints = {};
  std::vector<std::uint8_t> descriptors = {};

  std::size_t size() const { return keypoints.size(); }
  const std::uint8_t* descriptor(std::size_t i) const { return descriptors.data() + i * kLength; }
};

struct Match {
  std::int32_t a = 0, b = 0;  // indices into the first and the second set
  float distance = 0;
  float ratio = 0;  // nearest distance over second nearest
  friend bool operator==(const Match&, const Match&) = default;
};

// A point of the first image and the point of the second image that it corresponds to.
struct Correspondence {
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  friend bool operator==(const Correspondence&, const Correspondence&) = default;
};

}  // namespace cornea
