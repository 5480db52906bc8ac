// SPDX-License-Identifier: Apache-2.0
// The null space of a few 9-vectors by Householder reflections: formulas shared by CPU and CUDA. T
// is float or double, or on the CPU Floats: one system per lane.
#pragma once

#include "cornea/core/host_device.h"
#include "cornea/geometry/algebra/lanes.h"
#include "cornea/geometry/algebra/matrix3.h"

namespace cornea::geometry {

// Householder reflections of `rows` 9-vectors (the rows of a system A x = 0), one after the other:
// afterwards the rows span the first `rows` axes, and the reflected remaining axes span the null
// space. `rank` becomes the least fraction of a row's squared norm that is independent of the
// rows before it.
template <int rows, class T>
struct Reflections {
  T v[rows][9];  // in: the system. out: the vectors of the reflections, each from its own axis on
  T factor[rows];
  T rank;

  CORNEA_HD void factorise() {
    rank = T{} + 1.0f;
    CORNEA_UNROLL
    for (int k = 0; k < rows; ++k) {
      T head = T{}, tail = T{};
      CORNEA_UNROLL
      for (int i = 0; i < k; ++i) head += v[k][i] * v[k][i];
      CORNEA_UNROLL
      for (int i = k; i < 9; ++i) tail += v[k][i] * v[k][i];
      const T share = tail / (head + tail);
      rank = choose(share < rank, share, rank);
      const T length = root(tail);
      const T old = v[k][k];
      v[k][k] = choose(old < 0.0f, old - length, old + length);
      // 2 / |v|^2, with |v|^2 = 2 (tail + |old| length)
      factor[k] = 1.0f / (tail + choose(old < 0.0f, -old, old) * length);
      CORNEA_UNROLL
      for (int j = k + 1; j < rows; ++j) reflect(k, v[j]);
    }
  }
  CORNEA_HD void reflect(int k, T* x) const {
    T along = T{};
    CORNEA_UNROLL
    for (int i = k; i < 9; ++i) along += v[k][i] * x[i];
    along *= factor[k];
    CORNEA_UNROLL
    for (int i = k; i < 9; ++i) x[i] -= along * v[k][i];
  }
  // The unit vector of the null space that belongs to axis `axis`, from `rows` to 8.
  CORNEA_HD Matrix3<T> null_vector(int axis) const {
    Matrix3<T> x;
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) x.v[i] = i == axis ? T{} + 1.0f : T{};
    CORNEA_UNROLL
    for (int k = rows - 1; k >= 0; --k) reflect(k, x.v);
    return x;
  }
};

// Below this value of Reflections::rank a sample does not determine a model: float cannot
// distinguish it from 0. The smallest value seen in samples of distinct points of real images is
// about 1e-7.
inline constexpr float kLeastRank = 1e-9f;

}  // namespace cornea::geometry
