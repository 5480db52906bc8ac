// SPDX-License-Identifier: Apache-2.0
// Internal to export: converts between rows of a COLMAP database and the numbers in its blobs.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "cornea/core/features.h"
#include "cornea/export/colmap/database.h"

namespace cornea::colmap {

// Blobs are little-endian, like every machine that Cornea runs on.
static_assert(std::endian::native == std::endian::little);

// Whether an id fits into a pair_id; COLMAP's tables allow no others.
inline bool is_image_id(Id id) { return id >= 0 && id < kMostImages; }

// The shift from Cornea's pixel coordinates to COLMAP's.
inline constexpr float kShift = 0.5f;

// The sensor type of cameras in rigs and frames of COLMAP 4.x.
inline constexpr int kCameraSensor = 0;

inline constexpr int kKeypointColumns = 6;
// COLMAP reads positions, with scale and angle, or with an affine shape.
inline bool is_keypoint_width(std::int64_t columns) {
  return columns == 2 || columns == 4 || columns == kKeypointColumns;
}
inline std::vector<float> keypoint_blob(std::span<const Keypoint> keypoints) {
  std::vector<float> blob;
  blob.reserve(keypoints.size() * kKeypointColumns);
  for (const Keypoint& k : keypoints) {
    const AffineFrame a = affine_frame(k);
    blob.insert(blob.end(), {k.x + kShift, k.y + kShift, float(a.a11), float(a.a12), float(a.a21),
                             float(a.a22)});
  }
  return blob;
}

// COLMAP numbers the eight orientation bins of a cell in the opposite sense; the first bin is the
// same. The function is its own inverse.
inline void swap_directions(std::span<std::uint8_t> descriptors) {
  for (std::size_t cell = 0; cell + 8 <= descriptors.size(); cell += 8) {
    std::uint64_t directions;
    std::memcpy(&directions, descriptors.data() + cell, 8);
    directions = std::rotl(__builtin_bswap64(directions), 8);  // 0 1 2 .. 7 becomes 0 7 6 .. 1
    std::memcpy(descriptors.data() + cell, &directions, 8);
  }
}

using Matrix3 = std::array<double, 9>;  // row-major

// With y = x + (h, h), x = T y: y2^T (T^T F T) y1 = 0 and y2 ~ (T^-1 H T) y1.
//
//       1 0 -h
//   T = 0 1 -h
//       0 0  1
inline Matrix3 times_shift(const Matrix3& m, double h) {  // M T
  Matrix3 r = m;
  for (int i = 0; i < 9; i += 3) r[i + 2] -= h * (m[i] + m[i + 1]);
  return r;
}
inline Matrix3 shifted_fundamental(const Matrix3& F, double h) {
  Matrix3 r = times_shift(F, h);
  for (int j = 0; j < 3; ++j) r[6 + j] -= h * (r[j] + r[3 + j]);
  return r;
}
inline Matrix3 shifted_homography(const Matrix3& H, double h) {
  Matrix3 r = times_shift(H, h);
  for (int j = 0; j < 3; ++j) {
    r[j] += h * r[6 + j];
    r[3 + j] += h * r[6 + j];
  }
  return r;
}

}  // namespace cornea::colmap
