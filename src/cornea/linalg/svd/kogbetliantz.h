// SPDX-License-Identifier: Apache-2.0
// For .cu files only: Kogbetliantz rotations on small square matrices, N lanes of a warp per matrix
// (kogbetliantz_lanes.h). Matrices are read and scaled, swept until all pairs are diagonal
// (kogbetliantz_sweeps.h), sorted and written.
#pragma once

#include "cornea/linalg/svd/kogbetliantz_sweeps.h"

namespace cornea::svd {

// Writes a matrix through shared memory with its columns in descending order of their values.
// `code` holds the rank of the lane's own column, plus 256 if its sign must be flipped.
template <class T, int N>
__device__ void write_vectors(const Lane<T, N>& at, const T (&m)[N], int code, bool signs,
                              bool finite, T* to, int k) {
  T* row = at.own_row();
#pragma unroll
  for (int c = 0; c < N; ++c) {
    const int column = __shfl_sync(~0u, code, at.base + c);
    const T value = signs && column >= 256 ? -m[c] : m[c];
    // + 0 removes negative zeros, whose sign a rotation by angle 0 may change.
    if (at.active && c < k) {
      row[column % 256] = finite ? value + T(0) : kNotANumber<T>;
    }
  }
  __syncwarp();
  store_matrices<T, N>(at, to, k);
  __syncwarp();
}

template <class T, int N>
__device__ void write_results(const Lane<T, N>& at, const SquareBatch<T>& batch, int exponent,
                              bool finite, const Rows<T, N>& rows) {
  T own = rows.x[0];
#pragma unroll
  for (int c = 1; c < N; ++c) own = at.row == c ? rows.x[c] : own;
  const T size = ScalarOps<T>::magnitude(own);
  int place = 0;
#pragma unroll
  for (int c = 0; c < N; ++c) {
    const T other = at.from(size, c);
    place += other > size || (other == size && c < at.row) ? 1 : 0;
  }
  if (batch.s != nullptr && at.active && at.row < batch.k) {
    batch.s[(at.first + at.group) * batch.k + place] =
        finite ? PowerOfTwo<T>(exponent)(size) : kNotANumber<T>;
  }
  const int code = place + (own < T(0) ? 256 : 0);
  if (batch.u != nullptr) write_vectors(at, rows.u, code, true, finite, batch.u, batch.k);
  if (batch.v != nullptr) write_vectors(at, rows.v, code, false, finite, batch.v, batch.k);
}

template <class T, int N>
__device__ void count_outcome(const Lane<T, N>& at, const SquareBatch<T>& batch, bool finite,
                              int sweeps) {
  if (!at.active || at.row != 0) return;
  DeviceCounts* counts = batch.counts;
  // Reading first avoids most atomics: few matrices raise the maximum.
  if (sweeps > *static_cast<volatile int*>(&counts->most_sweeps)) {
    atomicMax(&counts->most_sweeps, sweeps);
  }
  if (sweeps >= batch.max_sweeps) atomicAdd(&counts->not_converged, 1);
  if (!finite) {
    atomicAdd(&counts->not_finite, 1);
    atomicMax(&counts->first_not_finite,
              INT_MAX - (batch.first + static_cast<int>(at.first) + at.group));
  }
}

template <class T, int N>
__device__ void set_unit(T (&m)[N], int row) {
#pragma unroll
  for (int c = 0; c < N; ++c) m[c] = c == row ? T(1) : T(0);
}

template <class T, int N, bool vectors>
__global__ void __launch_bounds__(kSmallThreads, kSmallBlocks<T, N>)
    kogbetliantz_kernel(SquareBatch<T> batch) {
  const Lane<T, N> at(batch);
  Rows<T, N> rows;
  read_row<T, N>(at, batch, rows.x);
  const int given =
      batch.exponents != nullptr && at.active ? batch.exponents[at.first + at.group] : 0;
  T largest = 0;
  bool bad = at.active && given == kNotFinite;
#pragma unroll
  for (int c = 0; c < N; ++c) {
    const T size = ScalarOps<T>::magnitude(rows.x[c]);
    bad |= !(size <= kLargest<T>);
    largest = ScalarOps<T>::larger(largest, size);
  }
  const bool finite = (__ballot_sync(~0u, bad) & at.group_bits()) == 0;
  T most = 0;
#pragma unroll
  for (int c = 0; c < N; ++c) most = ScalarOps<T>::larger(most, at.from(largest, c));
  const int exponent = finite && most > T(0) ? scale_exponent(most) : 0;
  const PowerOfTwo<T> scale(-exponent);
  T squares = 0;
#pragma unroll
  for (int c = 0; c < N; ++c) {
    rows.x[c] = finite ? scale(rows.x[c]) : T(0);
    squares = fma(rows.x[c], rows.x[c], squares);
  }
  T norm = 0;
#pragma unroll
  for (int c = 0; c < N; ++c) norm += at.from(squares, c);
  norm = ScalarOps<T>::root(norm);
  int sweep = 0, sweeps = 0;
  if constexpr (vectors) {
    set_unit(rows.u, at.row);
    set_unit(rows.v, at.row);
    if (kSharedU<T, N> && at.in_group) store_row(at.own_row(), rows.u);
    if constexpr (refreshes<T>(N)) {
      if (batch.max_sweeps > first_sweeps(N)) {
        sweep_until<T, N, vectors>(at, 0, first_sweeps(N), norm, rows, sweeps);
        refresh(at, batch, scale, finite, rows);
        sweep = first_sweeps(N);
      }
    }
  }
  sweep_until<T, N, vectors>(at, sweep, batch.max_sweeps, norm, rows, sweeps);
  if constexpr (vectors && kSharedU<T, N>) {
    load_row(at.own_row(), rows.u);
    __syncwarp();
  }
  count_outcome(at, batch, finite, sweeps);
  write_results(at, batch, exponent + (finite ? given : 0), finite, rows);
}

}  // namespace cornea::svd
