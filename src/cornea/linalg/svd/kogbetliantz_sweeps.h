// SPDX-License-Identifier: Apache-2.0
// For .cu files only: the Kogbetliantz sweeps, and the correction of the rounding errors that they
// accumulate.
//
// Rows are in registers, ordered by slots of the Brent-Luk order (svd_math.h). A rotation of
// columns needs only a lane's own registers, whose indices are known at compile time; for a
// rotation of rows a lane fetches its partner's row by shuffles. The two lanes of a pair compute
// the same rotations; one of them writes them to shared memory for all lanes of the group.
//
// Groups that have converged rotate by angle 0 until the whole warp has converged.
#pragma once

#include "cornea/linalg/svd/kogbetliantz_lanes.h"

namespace cornea::svd {

template <class T, int N>
__device__ void permute(T (&x)[N]) {
  T moved[N];
#pragma unroll
  for (int s = 0; s < N; ++s) moved[next_slot(s, N)] = x[s];
#pragma unroll
  for (int s = 0; s < N; ++s) x[s] = moved[s];
}

// Rotates the columns of pair j and moves them into their next slots.
template <class T, int N>
__device__ void rotate_into(const T (&x)[N], T (&moved)[N], int j, T s, T tau) {
  using Ops = ScalarOps<T>;
  moved[next_slot(2 * j, N)] = rotated_first<Ops>(x[2 * j], x[2 * j + 1], s, tau);
  moved[next_slot(2 * j + 1, N)] = rotated_second<Ops>(x[2 * j], x[2 * j + 1], s, tau);
}

// The same in place for a row in shared memory, one pair after the other; each moves into slots of
// the preceding and the following pair.
template <class T, int N>
__device__ void rotate_shared(T* row, const Rotations<T>* rotations) {
  using Ops = ScalarOps<T>;
  T top = row[0];
#pragma unroll
  for (int j = 0; j < N / 2; ++j) {
    const T bottom = row[2 * j + 1], next_top = 2 * j + 2 < N ? row[2 * j + 2] : T(0);
    row[next_slot(2 * j, N)] =
        rotated_first<Ops>(top, bottom, rotations[j].left_s, rotations[j].left_tau);
    row[next_slot(2 * j + 1, N)] =
        rotated_second<Ops>(top, bottom, rotations[j].left_s, rotations[j].left_tau);
    top = next_top;
  }
}
template <class T, int N>
__device__ void permute_shared(T* row) {
  T top = row[0];
#pragma unroll
  for (int j = 0; j < N / 2; ++j) {
    const T bottom = row[2 * j + 1], next_top = 2 * j + 2 < N ? row[2 * j + 2] : T(0);
    row[next_slot(2 * j, N)] = top;
    row[next_slot(2 * j + 1, N)] = bottom;
    top = next_top;
  }
}

// A lane's rows of A, U and V; with kSharedU the row of U is the lane's own row in shared memory.
template <class T, int N>
struct Rows {
  T x[N], u[N], v[N];
};

// One step of a sweep, all pairs at once. Returns whether this lane's pair was not diagonal.
template <class T, int N, bool vectors>
__device__ bool rotate_pairs(const Lane<T, N>& at, const Meeting& meeting, T norm, int& parity,
                             Rows<T, N>& rows) {
  using G = Group<T, N>;
  using Ops = ScalarOps<T>;
  const int partner = at.base + meeting.partner;
  T mine_first = rows.x[0], mine_second = rows.x[1];
#pragma unroll
  for (int j = 1; j < G::kPairs; ++j) {
    mine_first = meeting.pair == j ? rows.x[2 * j] : mine_first;
    mine_second = meeting.pair == j ? rows.x[2 * j + 1] : mine_second;
  }
  const T other_first = __shfl_sync(~0u, mine_first, partner);
  const T other_second = __shfl_sync(~0u, mine_second, partner);
  const bool second = meeting.second;
  const T a = second ? other_first : mine_first, b = second ? other_second : mine_second;
  const T c = second ? mine_first : other_first, d = second ? mine_second : other_second;
  const bool rotates = at.active && needs_rotation<Ops>(a, b, c, d, norm);
  if (!__any_sync(~0u, rotates)) {
    permute(rows.x);
    if constexpr (vectors) {
      permute(rows.v);
      if constexpr (!kSharedU<T, N>) permute(rows.u);
      if (kSharedU<T, N> && at.in_group) permute_shared<T, N>(at.own_row());
    }
    return false;
  }
  TwoSided<Ops> r = two_sided_rotation<Ops>(a, b, c, d);
  if (!rotates) r = {{T(0), T(0)}, {T(0), T(0)}};
  // Double buffering: another lane may still read the rotations of the previous step.
  Rotations<T>* rotations = at.rotations + (parity * G::kGroups + at.group) * G::kPairs;
  parity ^= 1;
  if (at.in_group && !second)
    rotations[meeting.pair] = {r.left.s, r.left.tau, r.right.s, r.right.tau};
  __syncwarp();
  const T s = second ? -r.left.s : r.left.s, tau = second ? -r.left.tau : r.left.tau;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const T other = __shfl_sync(~0u, rows.x[i], partner);
    rows.x[i] = rotated_first<Ops>(rows.x[i], other, s, tau);
  }
  Rows<T, N> moved;
#pragma unroll
  for (int j = 0; j < G::kPairs; ++j) {
    const Rotations<T> t = rotations[j];
    rotate_into(rows.x, moved.x, j, t.right_s, t.right_tau);
    if constexpr (vectors) {
      rotate_into(rows.v, moved.v, j, t.right_s, t.right_tau);
      if constexpr (!kSharedU<T, N>) rotate_into(rows.u, moved.u, j, t.left_s, t.left_tau);
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i) {
    rows.x[i] = moved.x[i];
    if constexpr (vectors) rows.v[i] = moved.v[i];
    if constexpr (vectors && !kSharedU<T, N>) rows.u[i] = moved.u[i];
  }
  if (vectors && kSharedU<T, N> && at.in_group) rotate_shared<T, N>(at.own_row(), rotations);
  return rotates;
}

// Runs sweeps from number `sweep` on, until one finds all blocks of the warp's matrices diagonal,
// or up to `end`. `sweeps` becomes the number of the group's last sweep that rotated.
template <class T, int N, bool vectors>
__device__ void sweep_until(const Lane<T, N>& at, int sweep, int end, T norm, Rows<T, N>& rows,
                            int& sweeps) {
  constexpr int ring = N - 1;
  int parity = 0;
#pragma unroll 1
  for (; sweep < end; ++sweep) {
    bool rotated = false;
    int place = at.row == 0 ? 0 : ring_place(at.row, N), back = 0;
#pragma unroll 1
    for (int step = 0; step < ring; ++step) {
      const Meeting meeting = meeting_at(at.row, place, back, N);
      rotated |= rotate_pairs<T, N, vectors>(at, meeting, norm, parity, rows);
      place = place + 1 == ring ? 0 : place + 1;
      back = back == 0 ? ring - 1 : back - 1;
    }
    const unsigned bits = __ballot_sync(~0u, rotated);
    if (bits == 0) break;
    if ((bits & at.group_bits()) != 0) sweeps = sweep + 1;
  }
  __syncwarp();
}

// m <- (3 I - m m^T) m / 2, row by row.
template <class T, int N>
__device__ void orthonormalise(const Lane<T, N>& at, T (&m)[N]) {
  if (at.in_group) store_row(at.own_row(), m);
  __syncwarp();
  T correction[N];
#pragma unroll
  for (int c = 0; c < N; ++c) correction[c] = 0;
#pragma unroll 1
  for (int q = 0; q < N; ++q) {
    T other[N];
    load_row(at.matrix() + q * Group<T, N>::kStride, other);
    T even = q == at.row ? T(-1) : T(0), odd = 0;
#pragma unroll
    for (int c = 0; c < N; c += 2) {
      even = fma(m[c], other[c], even);
      odd = fma(m[c + 1], other[c + 1], odd);
    }
    const T half_error = T(-0.5) * (even + odd);
#pragma unroll
    for (int c = 0; c < N; ++c) correction[c] = fma(half_error, other[c], correction[c]);
  }
#pragma unroll
  for (int c = 0; c < N; ++c) m[c] += correction[c];
  __syncwarp();
}

// out = the sum over i of factor[i] times row i of the matrix in shared memory.
template <class T, int N>
__device__ void combine_rows(const Lane<T, N>& at, const T (&factor)[N], T (&out)[N]) {
#pragma unroll
  for (int c = 0; c < N; ++c) out[c] = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    T other[N];
    load_row(at.matrix() + i * Group<T, N>::kStride, other);
#pragma unroll
    for (int c = 0; c < N; ++c) out[c] = fma(factor[i], other[c], out[c]);
  }
}

// Makes U and V orthonormal again and recomputes x = U^T A V from the input.
template <class T, int N>
__device__ void refresh(const Lane<T, N>& at, const SquareBatch<T>& batch,
                        const PowerOfTwo<T>& scale, bool finite, Rows<T, N>& rows) {
  orthonormalise(at, rows.u);
  orthonormalise(at, rows.v);
  T factor[N];
  read_row<T, N>(at, batch, factor);
#pragma unroll
  for (int c = 0; c < N; ++c) factor[c] = finite ? scale(factor[c]) : T(0);
  if (at.in_group) store_row(at.own_row(), rows.v);
  __syncwarp();
  T product[N];  // a row of A V
  combine_rows(at, factor, product);
  __syncwarp();
  if (at.in_group) store_row(at.own_row(), rows.u);
  __syncwarp();
#pragma unroll
  for (int i = 0; i < N; ++i) factor[i] = at.matrix()[i * Group<T, N>::kStride + at.row];
  __syncwarp();
  if (at.in_group) store_row(at.own_row(), product);
  __syncwarp();
  combine_rows(at, factor, rows.x);
  __syncwarp();
}

}  // namespace cornea::svd
