// SPDX-License-Identifier: Apache-2.0
// The building blocks of procedural textures: hashing, noise, and shapes that are filtered over a
// sample's width. All are pure functions of position and seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cornea/core/random.h"

namespace cornea::scene {

// Four random words for the lattice cell (i, j).
inline core::Philox4 cell_hash(std::uint64_t seed, std::int64_t i, std::int64_t j) {
  return core::philox(seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j));
}
inline double unit(const core::Philox4& hash, int word) { return core::unit_float(hash.v[word]); }

inline std::int64_t floor_cell(double x) { return static_cast<std::int64_t>(std::floor(x)); }
inline double mix(double a, double b, double share_of_b) { return a + (b - a) * share_of_b; }
inline double saturate(double x) { return std::clamp(x, 0.0, 1.0); }

// Random values of 0..255 at the integer points. One hash serves a block of 4 x 4 points.
class Lattice {
 public:
  explicit Lattice(std::uint64_t seed) : seed_(seed) {}
  double operator()(std::int64_t i, std::int64_t j) {
    if (!filled_ || (i >> 2) != block_i_ || (j >> 2) != block_j_) {
      block_i_ = i >> 2;
      block_j_ = j >> 2;
      block_ = cell_hash(seed_, block_i_, block_j_);
      filled_ = true;
    }
    return (block_.v[j & 3] >> (8 * (i & 3))) & 255u;
  }

 private:
  std::uint64_t seed_;
  std::int64_t block_i_ = 0, block_j_ = 0;
  core::Philox4 block_{};
  bool filled_ = false;
};

// Value noise: smooth, -1..1, features about 1 wide.
inline double noise(std::uint64_t seed, double x, double y) {
  const std::int64_t i = floor_cell(x), j = floor_cell(y);
  const double fx = x - static_cast<double>(i), fy = y - static_cast<double>(j);
  const double sx = fx * fx * (3.0 - 2.0 * fx), sy = fy * fy * (3.0 - 2.0 * fy);
  Lattice at(seed);
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
  if ((i & 3) == 3) {  // two blocks side by side: column by column, so that each is hashed once
    a = at(i, j), c = at(i, j + 1);
    b = at(i + 1, j), d = at(i + 1, j + 1);
  } else {
    a = at(i, j), b = at(i + 1, j);
    c = at(i, j + 1), d = at(i + 1, j + 1);
  }
  return mix(mix(a, b, sx), mix(c, d, sx), sy) * (2.0 / 255.0) - 1.0;
}

// Fractal noise: each octave has half the wavelength and half the amplitude of the previous one. An
// octave fades out as its wavelength shrinks from four to two sample widths, which avoids aliasing.
// `x`, `y` and `width` (of a sample) are in units of the first octave's wavelength.
inline double fractal(std::uint64_t seed, double x, double y, int octaves, double width) {
  double sum = 0.0, amplitude = 0.5, frequency = 1.0;
  for (int octave = 0; octave < octaves; ++octave) {
    const double fade = saturate(1.0 / (2.0 * frequency * width) - 1.0);
    if (fade == 0.0) break;
    sum += amplitude * fade *
           noise(seed + static_cast<std::uint64_t>(octave), x * frequency, y * frequency);
    amplitude *= 0.5;
    frequency *= 2.0;
  }
  return sum;
}

// The share of a sample of the given width, at signed distance d from an edge, on the edge's
// positive side.
inline double beyond(double d, double width) { return saturate(d / width + 0.5); }

// The share of [x - width / 2, x + width / 2] covered by the stripes [k period, k period + stripe).
// Exact however narrow the stripes are.
inline double stripes(double x, double period, double stripe, double width) {
  const auto covered_up_to = [&](double end) {
    const double whole = std::floor(end / period);
    return whole * stripe + std::min(end - whole * period, stripe);
  };
  return (covered_up_to(x + 0.5 * width) - covered_up_to(x - 0.5 * width)) / width;
}

// The share of a square sample at (u, v) covered by an axis-aligned rectangle.
inline double rectangle(double u, double v, double u0, double v0, double u1, double v1,
                        double width) {
  const double across = saturate(beyond(u - u0, width) + beyond(u1 - u, width) - 1.0);
  const double along = saturate(beyond(v - v0, width) + beyond(v1 - v, width) - 1.0);
  return across * along;
}

inline double disc(double u, double v, double centre_u, double centre_v, double radius,
                   double width) {
  return beyond(radius - std::hypot(u - centre_u, v - centre_v), width);
}

}  // namespace cornea::scene
