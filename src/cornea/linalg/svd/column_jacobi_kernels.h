// SPDX-License-Identifier: Apache-2.0
// For .cu files only: one-sided Jacobi rotations of the columns of large matrices, one block per
// matrix, one warp per pair of columns.
#pragma once

#include <cstddef>

#include "cornea/core/cuda.h"
#include "cornea/linalg/svd/block_reduce.h"
#include "cornea/linalg/svd/device_svd.h"
#include "cornea/linalg/svd/svd_math.h"

namespace cornea::svd {

// The arrays of one matrix of a ColumnBatch.
template <class T>
struct ColumnMatrix {
  __device__ ColumnMatrix(const ColumnBatch<T>& batch, std::size_t i)
      : k(batch.k),
        y(batch.y + i * k * k),
        w(batch.w ? batch.w + i * k * k : nullptr),
        values(batch.values + i * k),
        outside(batch.outside + i * k),
        shares(batch.shares + i * k),
        places(batch.places + i * k),
        order(batch.order + i * k),
        s(batch.s ? batch.s + i * k : nullptr),
        right(batch.right ? batch.right + i * k * k : nullptr) {}
  __device__ T* column(int c) const { return y + std::size_t(c) * k; }

  std::size_t k;
  T *y, *w, *values, *outside, *shares;
  int* places;
  const int* order;
  T *s, *right;
};

// Called by a warp. Lane l processes rows l, l + 32, ...
template <class T>
__device__ void rotate_columns(T* x, T* y, const Rotation<ScalarOps<T>>& r, int k) {
  using Ops = ScalarOps<T>;
  for (int i = threadIdx.x % core::kWarp; i < k; i += core::kWarp) {
    const T a = x[i], b = y[i];
    x[i] = rotated_first<Ops>(a, b, r.s, r.tau);
    y[i] = rotated_second<Ops>(a, b, r.s, r.tau);
  }
}

// Called by a warp: makes columns p and q orthogonal; returns whether a rotation was necessary.
template <class T>
__device__ bool orthogonalise_pair(const ColumnMatrix<T>& m, int p, int q) {
  T *x = m.column(p), *y = m.column(q);
  const int k = static_cast<int>(m.k);
  T xx = 0, yy = 0, xy = 0;
  for (int i = threadIdx.x % core::kWarp; i < k; i += core::kWarp) {
    const T a = x[i], b = y[i];
    xx = fma(a, a, xx);
    yy = fma(b, b, yy);
    xy = fma(a, b, xy);
  }
  xx = core::warp_sum(xx);
  yy = core::warp_sum(yy);
  xy = core::warp_sum(xy);
  if (!(ScalarOps<T>::magnitude(xy) > kColumnTolerance<T> * (sqrt(xx) * sqrt(yy)))) return false;
  const Rotation<ScalarOps<T>> r = one_sided_rotation(xx, yy, xy);
  rotate_columns(x, y, r, k);
  if (m.w) rotate_columns(m.w + p * m.k, m.w + q * m.k, r, k);
  return true;
}

// Sweeps until the first `columns` columns are orthogonal; returns the number of sweeps that
// rotated.
template <class T>
__device__ int orthogonalise(const ColumnMatrix<T>& m, int columns, int max_sweeps) {
  const int n = columns + columns % 2;
  const int warp = threadIdx.x / core::kWarp, warps = blockDim.x / core::kWarp;
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    int rotated = 0;
    for (int step = 0; step < n - 1; ++step) {
      for (int pair = warp; pair < n / 2; pair += warps) {
        const int p = first_of_pair(pair, step, n);
        const int q = meeting_of(p, step, n).partner;
        if (p < columns && q < columns) rotated |= orthogonalise_pair(m, p, q);
      }
      __syncthreads();
    }
    if (!__syncthreads_or(rotated)) return sweep;
  }
  return max_sweeps;
}

// Called by the block: column c, whose singular value is 0, becomes a unit vector orthogonal to all
// columns with values[i] > 0. It starts as the axis farthest from their span; Gram-Schmidt, three
// times, removes its component in the span.
template <class T>
__device__ void complete_column(const ColumnMatrix<T>& m, int c, ReduceMemory<T>& memory) {
  const int k = static_cast<int>(m.k);
  const int warp = threadIdx.x / core::kWarp, warps = blockDim.x / core::kWarp,
            lane = threadIdx.x % core::kWarp;
  T* x = m.column(c);
  Largest<T> best{T(-1), k};
  for (int i = threadIdx.x; i < k; i += blockDim.x) {
    best = larger_of(best, Largest<T>{m.outside[i], i});
  }
  best = block_largest(best, memory.largest);
  for (int i = threadIdx.x; i < k; i += blockDim.x) x[i] = i == best.index ? T(1) : T(0);
  __syncthreads();
  for (int pass = 0; pass < 3; ++pass) {
    for (int other = warp; other < k; other += warps) {
      T share = 0;
      if (m.values[other] > T(0)) {
        const T* column = m.column(other);
        for (int i = lane; i < k; i += core::kWarp) share = fma(x[i], column[i], share);
      }
      share = core::warp_sum(share);
      if (lane == 0) m.shares[other] = share;
    }
    __syncthreads();
    T squares = 0;
    for (int i = threadIdx.x; i < k; i += blockDim.x) {
      T rest = x[i];
      for (int other = 0; other < k; ++other) {
        if (m.values[other] > T(0)) rest = fma(-m.shares[other], m.column(other)[i], rest);
      }
      x[i] = rest;
      squares = fma(rest, rest, squares);
    }
    const T inverse = T(1) / sqrt(block_sum(squares, memory.sums));
    for (int i = threadIdx.x; i < k; i += blockDim.x) x[i] *= inverse;
    __syncthreads();
  }
  for (int i = threadIdx.x; i < k; i += blockDim.x) m.outside[i] -= x[i] * x[i];
  __syncthreads();
}

// Scales the columns to unit length and stores their lengths in `values`.
template <class T>
__device__ void normalise(const ColumnMatrix<T>& m) {
  const int k = static_cast<int>(m.k), lane = threadIdx.x % core::kWarp;
  for (int c = threadIdx.x / core::kWarp; c < k; c += blockDim.x / core::kWarp) {
    T* x = m.column(c);
    T squares = 0;
    for (int i = lane; i < k; i += core::kWarp) squares = fma(x[i], x[i], squares);
    const T value = sqrt(core::warp_sum(squares));
    for (int i = lane; i < k && value > T(0); i += core::kWarp) x[i] /= value;
    if (lane == 0) m.values[c] = value;
  }
  __syncthreads();
}

// Ranks the columns by descending value. Ties keep the first.
template <class T>
__device__ void rank_values(const ColumnMatrix<T>& m, int exponent) {
  const int k = static_cast<int>(m.k);
  const PowerOfTwo<T> scale(exponent);
  for (int c = threadIdx.x; c < k; c += blockDim.x) {
    const T value = m.values[c];
    int place = 0;
    for (int i = 0; i < k; ++i) {
      const T other = m.values[i];
      place += other > value || (other == value && i < c) ? 1 : 0;
    }
    m.places[c] = place;
    if (m.s) m.s[place] = scale(value);
  }
  __syncthreads();
}

// Gives every column a direction, including those of value 0, whose values become 1.
template <class T>
__device__ void complete(const ColumnMatrix<T>& m, ReduceMemory<T>& memory) {
  const int k = static_cast<int>(m.k);
  for (int i = threadIdx.x; i < k; i += blockDim.x) {
    T rest = 1;
    for (int c = 0; c < k; ++c) {
      if (m.values[c] > T(0)) rest = fma(-m.column(c)[i], m.column(c)[i], rest);
    }
    m.outside[i] = rest;
  }
  __syncthreads();
  for (int c = 0; c < k; ++c) {
    if (m.values[c] > T(0)) continue;
    complete_column(m, c, memory);
    if (threadIdx.x == 0) m.values[c] = 1;
    __syncthreads();
  }
}

template <class T>
__device__ void fill_not_a_number(const ColumnMatrix<T>& m) {
  const int k = static_cast<int>(m.k);
  for (int i = threadIdx.x; i < k; i += blockDim.x) {
    m.places[i] = i;
    if (m.s) m.s[i] = kNotANumber<T>;
  }
  for (std::size_t i = threadIdx.x; m.right && i < m.k * m.k; i += blockDim.x)
    m.right[i] = kNotANumber<T>;
}

template <class T>
__global__ void column_jacobi_kernel(ColumnBatch<T> batch) {
  __shared__ ReduceMemory<T> memory;
  const ColumnMatrix<T> m(batch, blockIdx.x);
  const int exponent = batch.exponents[blockIdx.x];
  for (std::size_t i = threadIdx.x; m.w && i < m.k * m.k; i += blockDim.x) {
    m.w[i] = i % (m.k + 1) == 0;
  }
  if (exponent == kNotFinite) {
    fill_not_a_number(m);
    if (threadIdx.x == 0) {
      atomicAdd(&batch.counts->not_finite, 1);
      atomicMax(&batch.counts->first_not_finite,
                INT_MAX - (batch.first + static_cast<int>(blockIdx.x)));
    }
    return;
  }
  __syncthreads();
  const int sweeps = orthogonalise(m, batch.ranks[blockIdx.x], batch.max_sweeps);
  if (threadIdx.x == 0) {
    atomicMax(&batch.counts->most_sweeps, sweeps);
    if (sweeps == batch.max_sweeps) atomicAdd(&batch.counts->not_converged, 1);
  }
  normalise(m);
  rank_values(m, exponent);
  if (!m.right) return;
  complete(m, memory);
  for (std::size_t i = threadIdx.x; i < m.k * m.k; i += blockDim.x) {
    const int row = static_cast<int>(i % m.k), c = static_cast<int>(i / m.k);
    m.right[m.order[row] * m.k + m.places[c]] = m.column(c)[row];
  }
}

}  // namespace cornea::svd
