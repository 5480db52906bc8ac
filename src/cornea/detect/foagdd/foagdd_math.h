// SPDX-License-Identifier: Apache-2.0
// FOAGDD's formulas that the CPU and CUDA share.
#pragma once

#include <cfloat>
#include <cmath>
#include <type_traits>

#include "cornea/core/host_device.h"

namespace cornea::foagdd {

inline constexpr int kFoagddLeastDirections = 4, kFoagddMostDirections = 16;
inline constexpr int kFoagddMostScales = 5;
inline constexpr int kFoagddMostRadius = 31;  // of the filters
inline constexpr int kFoagddPadding = 7;     // rows and columns of mirrored border around the image
inline constexpr int kFoagddDiscRadius = 3;  // of the disc over which the tensor is summed
inline constexpr double kFoagddEpsilon = 2.22e-16;

// The source pixel of a row or column of the extended image: the image is mirrored, with its edge
// repeated, over the padding; -1 beyond that, where the extended image is zero.
CORNEA_HD inline int foagdd_source(int i, int size) {
  if (i >= 0 && i < size) return i;
  if (i < -kFoagddPadding || i >= size + kFoagddPadding) return -1;
  int m = i % (2 * size);
  if (m < 0) m += 2 * size;
  return m < size ? m : 2 * size - 1 - m;
}

// Half height of the disc at a column relative to its centre; -1 beyond it. The disc has 37 pixels.
CORNEA_HD constexpr int foagdd_disc_half_height(int column) {
  const int c = column < 0 ? -column : column;
  return c <= 1 ? 3 : c <= kFoagddDiscRadius ? 4 - c : -1;
}
// The order in which the pixels of a column are added: 0, -1, 1, -2, 2, .. The sums over 3, 5 and 7
// rows are then partial sums of one sequence.
CORNEA_HD constexpr int foagdd_disc_step(int i) { return i % 2 ? -(i + 1) / 2 : i / 2; }

// Number of entries of the lower triangle of the symmetric n x n tensor, which is stored row by
// row.
CORNEA_HD constexpr int foagdd_tensor_size(int n) { return n * (n + 1) / 2; }
CORNEA_HD constexpr int foagdd_tensor_index(int i, int j) { return i * (i + 1) / 2 + j; }

// sum + a b. The product of two floats is exact in double, so that the result is rounded once,
// fused or not. A fused operation is one instruction on the device; on a host without it, it would
// be a function call.
CORNEA_HD inline double foagdd_add_product(double a, double b, double sum) {
#if defined(__CUDA_ARCH__) || defined(__FP_FAST_FMA)
  return std::fma(a, b, sum);
#else
  return sum + a * b;
#endif
}

// The tensor of a pixel: the sum over the disc of the outer products of the derivatives. `load(dx,
// dy, d)` writes the n derivatives at that offset. They are floats, so that each product is exact
// in double. Each column is summed from its middle outwards, and then the columns from left to
// right.
template <int n, class Load>
CORNEA_HD inline void foagdd_tensor(Load&& load, double (&tensor)[foagdd_tensor_size(n)]) {
  constexpr int kSize = foagdd_tensor_size(n);
  CORNEA_UNROLL
  for (int k = 0; k < kSize; ++k) tensor[k] = 0;
  CORNEA_UNROLL
  for (int dx = -kFoagddDiscRadius; dx <= kFoagddDiscRadius; ++dx) {
    double d[n], column[kSize];
    CORNEA_UNROLL
    for (int k = 0; k < kSize; ++k) column[k] = 0;
    CORNEA_UNROLL
    for (int step = 0; step <= 2 * foagdd_disc_half_height(dx); ++step) {
      load(dx, foagdd_disc_step(step), d);
      CORNEA_UNROLL
      for (int i = 0; i < n; ++i) {
        CORNEA_UNROLL
        for (int j = 0; j <= i; ++j) {
          double& sum = column[foagdd_tensor_index(i, j)];
          sum = foagdd_add_product(d[i], d[j], sum);
        }
      }
    }
    CORNEA_UNROLL
    for (int k = 0; k < kSize; ++k) tensor[k] += column[k];
  }
}

// det M / (trace M + epsilon) by LDL' without pivoting, which is stable for a positive semidefinite
// M. A pivot that is zero or negative after rounding means that M is singular: the measure is 0. M
// is overwritten.
template <int n>
CORNEA_HD inline double foagdd_measure(double* tensor) {
  double trace = 0, determinant = 1;
  CORNEA_UNROLL
  for (int i = 0; i < n; ++i) trace += tensor[foagdd_tensor_index(i, i)];
  CORNEA_UNROLL
  for (int k = 0; k < n; ++k) {
    const double pivot = tensor[foagdd_tensor_index(k, k)];
    if (!(pivot > 0)) return 0;
    determinant *= pivot;
    const double inverse = 1 / pivot;
    CORNEA_UNROLL
    for (int j = k + 1; j < n; ++j) {
      const double l = tensor[foagdd_tensor_index(j, k)] * inverse;
      CORNEA_UNROLL
      for (int i = j; i < n; ++i) {
        double& entry = tensor[foagdd_tensor_index(i, j)];
        entry = std::fma(-l, tensor[foagdd_tensor_index(i, k)], entry);
      }
    }
  }
  return determinant / (trace + kFoagddEpsilon);
}

// Screening. Most pixels are far below the threshold, which two bounds prove at a lower cost.
//
// 1. The measure grows with M: if N - M is positive semidefinite then measure(M) <= measure(N),
//    because the derivative of log measure along dM >= 0 is tr((M^-1 - I / tr M) dM), and M^-1 >=
//    I / tr M. So the tensor summed over a larger set of pixels bounds the measure. The cell of 2 x
//    2 pixels has the union of their four discs, 52 pixels: one tensor for four measures.
//
// 2. Summing and factoring in float can have a large error, because the tensor is close to
//    singular, but the error is bounded. Let u = 2^-24 and A the tensor as summed in float. All
//    terms are positive, so that each entry has a relative error of at most 16 u (the longest chain
//    of additions) and the matrix an error, in the 2-norm, of at most 16 u trace. LDL' of A + shift
//    I in float gives the exact factors of a matrix that differs from it by at most (n + 10) u
//    trace (N. Higham, "Accuracy and stability of numerical algorithms", theorem 10.3, with
//    reciprocal pivots, and |L||D||L'| bounded by its trace); a reciprocal with an error of one ulp
//    makes it n + 14. Adding the shift rounds once more. So with
//
//      shift = (n + 32) u trace
//
//    the factored matrix is larger than M and its determinant is at least det M; with -shift it is
//    smaller and its determinant at most det M. The last few roundings (the product of the pivots,
//    the trace) are covered by a relative slack of 2^-18.
CORNEA_HD constexpr float foagdd_screen_shift(int n) { return (n + 32) * 0x1p-24f; }
inline constexpr float kFoagddScreenSlack = 0x1p-18f;
// A float just below the threshold, at most FLT_MAX.
CORNEA_HD inline float foagdd_screen_threshold(double threshold) {
  const double below = threshold - 1e-6 * std::fabs(threshold);
  return below < FLT_MAX ? static_cast<float>(below) : FLT_MAX;
}

// Largest suppression radius for which screening saves time.
inline constexpr int kFoagddMostScreenRadius = 4;

// Calls f(std::integral_constant<int, n>) for a number of directions that is known at run time.
template <class F, int n = kFoagddLeastDirections>
decltype(auto) with_directions(int directions, F&& f) {
  if constexpr (n < kFoagddMostDirections) {
    if (directions != n) return with_directions<F, n + 1>(directions, static_cast<F&&>(f));
  }
  return f(std::integral_constant<int, n>{});
}

}  // namespace cornea::foagdd
