// SPDX-License-Identifier: Apache-2.0
// Internal to export: rotations in COLMAP's representation.
#pragma once

#include <array>
#include <cmath>

namespace cornea::colmap {

// The unit quaternion (w, x, y, z) of a rotation matrix, w >= 0. The largest of the four components
// is computed from the diagonal, which avoids a division by the root of a small number (S.
// Shepperd, "Quaternion from rotation matrix", 1978).
inline std::array<double, 4> quaternion_of(const std::array<double, 9>& R) {
  const double trace = R[0] + R[4] + R[8];
  // 4 w^2, 4 x^2, 4 y^2, 4 z^2
  const std::array<double, 4> squares = {1 + trace, 1 + 2 * R[0] - trace, 1 + 2 * R[4] - trace,
                                         1 + 2 * R[8] - trace};
  // 4 times the products of two components.
  const double wx = R[7] - R[5], wy = R[2] - R[6], wz = R[3] - R[1];
  const double xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
  const double products[4][4] = {{squares[0], wx, wy, wz},
                                 {wx, squares[1], xy, xz},
                                 {wy, xy, squares[2], yz},
                                 {wz, xz, yz, squares[3]}};
  int largest = 0;
  for (int i = 1; i < 4; ++i) {
    if (squares[i] > squares[largest]) largest = i;
  }
  std::array<double, 4> q;
  double norm = 0;
  for (int i = 0; i < 4; ++i) {
    q[i] = products[largest][i];
    norm += q[i] * q[i];
  }
  norm = std::sqrt(norm);
  if (q[0] < 0) norm = -norm;
  for (double& value : q) value /= norm;
  return q;
}

// For a quaternion of any nonzero length.
inline std::array<double, 9> rotation_of(const std::array<double, 4>& q) {
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  const auto [w, x, y, z] = q;
  const double s = 2 / square;
  return {1 - s * (y * y + z * z), s * (x * y - w * z),     s * (x * z + w * y),
          s * (x * y + w * z),     1 - s * (x * x + z * z), s * (y * z - w * x),
          s * (x * z - w * y),     s * (y * z + w * x),     1 - s * (x * x + y * y)};
}

}  // namespace cornea::colmap
