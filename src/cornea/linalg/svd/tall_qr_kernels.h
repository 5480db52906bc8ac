// SPDX-License-Identifier: Apache-2.0
// For .cu files only: Householder QR of tall matrices, one block per matrix.
#pragma once

#include <cstddef>

#include "cornea/core/cuda.h"
#include "cornea/linalg/svd/block_reduce.h"
#include "cornea/linalg/svd/device_svd.h"
#include "cornea/linalg/svd/svd_math.h"

namespace cornea::svd {

// The arrays of one matrix of a TallBatch.
template <class T>
struct TallMatrix {
  __device__ TallMatrix(const TallBatch<T>& batch, std::size_t i)
      : size(std::size_t(batch.tall) * batch.k),
        tall(batch.tall),
        k(batch.k),
        a(batch.a + i * size),
        reflectors(batch.reflectors + i * size),
        beta(batch.beta + i * batch.k),
        squares(batch.squares + i * batch.k),
        triangle(batch.triangle + i * batch.k * batch.k),
        order(batch.order + i * batch.k) {}
  __device__ T* column(int j) const { return reflectors + std::size_t(j) * tall; }

  std::size_t size;
  int tall, k;
  const T* a;
  T *reflectors, *beta, *squares, *triangle;
  int* order;
};

// Copies the matrix by columns, scaled. Returns the exponent, or kNotFinite after filling with
// zeros.
template <class T>
__device__ int load_scaled(const TallMatrix<T>& m, bool transposed, ReduceMemory<T>& memory) {
  T most = 0;
  int bad = 0;
  for (std::size_t i = threadIdx.x; i < m.size; i += blockDim.x) {
    const T size = ScalarOps<T>::magnitude(m.a[i]);
    bad |= !(size <= kLargest<T>);
    most = ScalarOps<T>::larger(most, size);
  }
  bad = __syncthreads_or(bad);
  most = block_largest<T>({most, 0}, memory.largest).value;
  const int exponent = bad ? kNotFinite : most > T(0) ? scale_exponent(most) : 0;
  const PowerOfTwo<T> scale(bad ? 0 : -exponent);
  for (std::size_t i = threadIdx.x; i < m.size; i += blockDim.x) {
    const std::size_t row = transposed ? i % m.tall : i / m.k;
    const std::size_t column = transposed ? i / m.tall : i % m.k;
    m.reflectors[column * m.tall + row] = bad ? T(0) : scale(m.a[i]);
  }
  __syncthreads();
  return exponent;
}

// Called by a warp: sum of squares of a column from a row on. Lane l processes rows l, l + 32, ...
template <class T>
__device__ T squares_from(const T* column, int row, int tall) {
  T sum = 0;
  for (int i = row / core::kWarp * core::kWarp + threadIdx.x % core::kWarp; i < tall;
       i += core::kWarp) {
    if (i >= row) sum = fma(column[i], column[i], sum);
  }
  return core::warp_sum(sum);
}

// Swaps the column with the largest remainder into position j; false if it is negligible (kNoRank).
template <class T>
__device__ bool bring_pivot(const TallMatrix<T>& m, int j, T& first, ReduceMemory<T>& memory) {
  Largest<T> best{T(-1), j};
  for (int c = j + threadIdx.x; c < m.k; c += blockDim.x) {
    best = larger_of(best, Largest<T>{m.squares[c], c});
  }
  best = block_largest(best, memory.largest);
  const T norm = sqrt(best.value);
  if (j == 0) first = norm;
  if (!(norm > kNoRank<T> * first)) return false;
  __syncthreads();  // squares and columns are about to be changed
  if (best.index != j) {
    T *here = m.column(j), *there = m.column(best.index);
    for (int i = threadIdx.x; i < m.tall; i += blockDim.x) {
      const T kept = here[i];
      here[i] = there[i];
      there[i] = kept;
    }
    if (threadIdx.x == 0) {
      const int kept = m.order[j];
      m.order[j] = m.order[best.index];
      m.order[best.index] = kept;
      m.squares[best.index] = m.squares[j];
    }
  }
  __syncthreads();
  return true;
}

// Computes the reflector I - beta w w^T of column j, w = (1, x1 / (x0 - r), ..), r = -sign(x0) |x|,
// beta = (r - x0) / r (LAPACK's larfg); returns beta.
template <class T>
__device__ T make_reflector(const TallMatrix<T>& m, int j, ReduceMemory<T>& memory) {
  T* x = m.column(j);
  T tail = 0;
  for (int i = j + 1 + threadIdx.x; i < m.tall; i += blockDim.x) tail = fma(x[i], x[i], tail);
  tail = block_sum(tail, memory.sums);
  const T x0 = x[j];
  __syncthreads();  // all threads have read it
  T beta = 0;
  if (tail > kSmallest<T> / kEpsilon<T>) {  // see host_small.cc
    const T norm = sqrt(fma(x0, x0, tail));
    const T r = x0 < T(0) ? norm : -norm;
    const T inverse = T(1) / (x0 - r);
    beta = (r - x0) / r;
    for (int i = j + 1 + threadIdx.x; i < m.tall; i += blockDim.x) x[i] *= inverse;
    if (threadIdx.x == 0) x[j] = r;
  }
  if (threadIdx.x == 0) m.beta[j] = beta;
  __syncthreads();
  return beta;
}

// Called by a warp: x -= beta (w . x) w, w = (1, entries below row j of the reflector's column).
// Lane l processes rows l, l + 32, .. at every step.
template <class T>
__device__ void reflect(const T* w, T beta, int j, T* x, int tall) {
  const int begin = j / core::kWarp * core::kWarp + threadIdx.x % core::kWarp;
  T dot = 0;
  for (int i = begin; i < tall; i += core::kWarp) {
    if (i > j) dot = fma(w[i], x[i], dot);
    if (i == j) dot += x[i];
  }
  dot = core::warp_sum(dot) * beta;
  for (int i = begin; i < tall; i += core::kWarp) {
    if (i > j) x[i] = fma(-dot, w[i], x[i]);
    if (i == j) x[i] -= dot;
  }
}

template <class T>
__global__ void qr_kernel(TallBatch<T> batch) {
  __shared__ ReduceMemory<T> memory;
  const TallMatrix<T> m(batch, blockIdx.x);
  const int warp = threadIdx.x / core::kWarp, warps = blockDim.x / core::kWarp;
  const int exponent = load_scaled(m, batch.transposed, memory);
  for (int c = warp; c < m.k; c += warps) {
    const T squares = squares_from(m.column(c), 0, m.tall);
    if (threadIdx.x % core::kWarp == 0) {
      m.squares[c] = squares;
      m.order[c] = c;
    }
  }
  __syncthreads();
  T first = 0;
  int rank = 0;
  for (; rank < m.k; ++rank) {
    if (batch.pivot && !bring_pivot(m, rank, first, memory)) break;
    const T beta = make_reflector(m, rank, memory);
    const T* w = m.column(rank);
    for (int c = rank + 1 + warp; c < m.k; c += warps) {
      reflect(w, beta, rank, m.column(c), m.tall);
      if (!batch.pivot) continue;
      const T squares = squares_from(m.column(c), rank + 1, m.tall);
      if (threadIdx.x % core::kWarp == 0) m.squares[c] = squares;
    }
    __syncthreads();
  }
  const std::size_t k = m.k;
  for (std::size_t i = threadIdx.x; i < k * k; i += blockDim.x) {
    const int row = static_cast<int>(i / k), column = static_cast<int>(i % k);
    m.triangle[i] = row < rank && column >= row ? m.column(column)[row] : T(0);
  }
  if (threadIdx.x == 0) {
    batch.ranks[blockIdx.x] = rank;
    batch.exponents[blockIdx.x] = exponent;
  }
}

// Multiplies Q by the columns of the core matrix; one warp per column.
template <class T>
__global__ void apply_q_kernel(TallBatch<T> batch, Core<T> core, T* product, T* left) {
  const std::size_t index = blockIdx.x;
  const TallMatrix<T> m(batch, index);
  const int lane = threadIdx.x % core::kWarp;
  const int rank = batch.ranks[index];
  const bool finite = batch.exponents[index] != kNotFinite;
  const T* from = core.data + index * m.k * m.k;
  for (int c = threadIdx.x / core::kWarp; c < m.k; c += blockDim.x / core::kWarp) {
    T* x = product + index * m.size + std::size_t(c) * m.tall;
    for (int i = lane; i < m.tall; i += core::kWarp) {
      x[i] = i < m.k ? from[std::size_t(i) * core.row_stride + std::size_t(c) * core.column_stride]
                     : T(0);
    }
    for (int j = rank - 1; j >= 0; --j) reflect(m.column(j), m.beta[j], j, x, m.tall);
    T* to = left + index * m.size + (core.places ? core.places[index * m.k + c] : c);
    for (int i = lane; i < m.tall; i += core::kWarp) {
      to[std::size_t(i) * m.k] = finite ? x[i] : kNotANumber<T>;
    }
  }
}

}  // namespace cornea::svd
