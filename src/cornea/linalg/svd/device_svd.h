// SPDX-License-Identifier: Apache-2.0
// The steps of the SVD on CUDA, internal to Svd. All are queued on the context's stream.
#pragma once

#include <climits>

#include "cornea/core/context.h"

namespace cornea::svd {

// The counters of a call, all zero at the start.
struct DeviceCounts {
  int most_sweeps, not_converged, not_finite;
  int first_not_finite;  // INT_MAX - index of the first such matrix, so that atomicMax keeps it
};

// Stored instead of an exponent if the matrix is not finite.
inline constexpr int kNotFinite = INT_MIN;

// Square matrices with k <= kMostSmall; results that are not wanted are null.
template <class T>
struct SquareBatch {
  const T* a;
  T *u, *s, *v;
  const int* exponents;  // a[i] has been scaled by 2^-exponents[i] already; null: not scaled
  int k, count, max_sweeps;
  int first;  // index of matrix 0, for the counts
  DeviceCounts* counts;
};
void enqueue_kogbetliantz(const Context& context, const SquareBatch<float>& batch);
void enqueue_kogbetliantz(const Context& context, const SquareBatch<double>& batch);

// tall x k matrices, tall >= k, and the scratch arrays of their QR decomposition, `count` of each.
template <class T>
struct TallBatch {
  const T* a;
  bool transposed;  // a holds k x tall matrices
  int tall, k, count;
  bool pivot;
  T* reflectors;   // tall x k by columns
  T* beta;         // k
  int* order;      // k: column j of R is column order[j] of A
  T* squares;      // k: scratch
  T* triangle;     // k x k, row-major: R
  int* ranks;      // 1
  int* exponents;  // 1
};
template <class T>
void enqueue_qr(const Context& context, const TallBatch<T>& batch);

// One k x k matrix per matrix of the batch, to be multiplied by Q: entry (i, c) is at i *
// row_stride + c * column_stride; column c of the product goes to column places[c] (null: c).
template <class T>
struct Core {
  const T* data;
  int row_stride, column_stride;
  const int* places;
};
// left = Q core, tall x k row-major each. `product` is scratch of the size of the reflectors.
template <class T>
void enqueue_apply_q(const Context& context, const TallBatch<T>& batch, const Core<T>& core,
                     T* product, T* left);

// One-sided Jacobi on the rows of the triangles (the columns of R^T), in place.
template <class T>
struct ColumnBatch {
  T* y;  // k x k: column j of Y at y + j k; initially the triangle
  T* w;  // k x k by columns, or null
  const int *order, *ranks, *exponents;
  T* values;     // k: scratch
  T* outside;    // k: scratch
  T* shares;     // k: scratch
  int* places;   // k: column c has the places[c]-th largest value
  T *s, *right;  // results, or null
  int k, count, max_sweeps;
  int first;
  DeviceCounts* counts;
};
template <class T>
void enqueue_column_jacobi(const Context& context, const ColumnBatch<T>& batch);

}  // namespace cornea::svd
