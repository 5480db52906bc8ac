// For .cu files only: Kogbetliantz rotations on small square matrices.
//
// A matrix has a group of N lanes of a warp (N: its size, or the even number above it), as many
// groups a warp as fit. Lane r holds row r of A, U and V in registers, by slots of the Brent-Luk
// order (svd_math.h): a rotation of columns is its own affair, with registers known at compile
// time; for a rotation of rows it fetches its partner's row by shuffles. The two lanes of a pair
// find the same rotations; one of them writes them to shared memory for all lanes of the group.
//
// Groups that are done rotate by nothing until the whole warp is done.
#pragma once

#include "cornea/core/cuda.h"
#include "cornea/core/warp.h"
#include "cornea/linalg/svd/device_svd.h"
#include "cornea/linalg/svd/svd_math.h"

namespace cornea::svd {

inline constexpr int kSmallThreads = 128;  // four warps that share nothing
// Blocks a multiprocessor at least, which caps the registers where they would keep warps out.
template <class T, int N>
inline constexpr int kSmallBlocks = sizeof(T) == sizeof(float) ? (N > 16   ? 3
                                                                  : N > 10 ? 4
                                                                           : 5)
                                                               : (N > 10 ? 2 : 3);
// Rows of A, U and V do not fit into registers: that of U lies in shared memory.
template <class T, int N>
inline constexpr bool kSharedU = sizeof(T) == sizeof(double) && N > 24;

template <class T>
struct alignas(16) Turn {
  T left_s, left_tau, right_s, right_tau;
};

template <class T, int N>
struct Group {
  static constexpr int kGroups = kWarp / N;  // matrices a warp
  static constexpr int kPairs = N / 2;
  // Numbers from a row of a matrix in shared memory to the next: an odd multiple of 4, so that
  // lanes that read four numbers of their rows meet different banks.
  static constexpr int kStride = (N + 3) / 4 % 2 == 1 ? (N + 3) / 4 * 4 : (N + 3) / 4 * 4 + 4;
  static constexpr int kMatrix = N * kStride;
  static constexpr int kTurns = 2 * kGroups * kPairs;  // of this step and the one before
  static constexpr std::size_t kWarpBytes =
      kTurns * sizeof(Turn<T>) + kGroups * kMatrix * sizeof(T);
};

__device__ inline unsigned char* block_memory() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return bytes;
}

// Where a lane stands.
template <class T, int N>
struct Lane {
  using G = Group<T, N>;

  __device__ explicit Lane(const SquareBatch<T>& batch)
      : lane(threadIdx.x % kWarp),
        in_group(lane < G::kGroups * N),
        group(in_group ? lane / N : 0),
        row(in_group ? lane % N : 0),
        base(group * N) {
    const int warp = threadIdx.x / kWarp;
    unsigned char* memory = block_memory() + warp * G::kWarpBytes;
    turns = reinterpret_cast<Turn<T>*>(memory);
    matrices = reinterpret_cast<T*>(memory + G::kTurns * sizeof(Turn<T>));
    first = (static_cast<long long>(blockIdx.x) * (kSmallThreads / kWarp) + warp) * G::kGroups;
    const long long left = batch.count - first;
    count = left < 0 ? 0 : left < G::kGroups ? static_cast<int>(left) : G::kGroups;
    active = in_group && group < count;
  }
  __device__ unsigned group_bits() const {
    return (N == kWarp ? ~0u : (1u << (N % kWarp)) - 1) << base;
  }
  __device__ T* matrix() const { return matrices + group * G::kMatrix; }
  __device__ T* own_row() const { return matrix() + row * G::kStride; }
  // The value of each lane of the group, one after the other.
  __device__ T from(T value, int other_row) const {
    return __shfl_sync(~0u, value, base + other_row);
  }

  int lane;
  bool in_group;  // the last lanes of a warp may have no group; they see group 0's numbers
  int group, row, base;
  Turn<T>* turns;
  T* matrices;
  long long first;  // matrix of group 0
  int count;        // matrices of this warp
  bool active;      // has a matrix
};

// Between the batch, where the warp's matrices lie one after the other, and shared memory.
template <class T, int N>
__device__ void load_matrices(const Lane<T, N>& at, const T* from, int k) {
  from += at.first * k * k;
  for (int i = at.lane; i < at.count * k * k; i += kWarp) {
    const int row = i / k;
    const int group = row / k;
    at.matrices[group * Group<T, N>::kMatrix + (row - group * k) * Group<T, N>::kStride + i -
                row * k] = from[i];
  }
}
template <class T, int N>
__device__ void store_matrices(const Lane<T, N>& at, T* to, int k) {
  to += at.first * k * k;
  for (int i = at.lane; i < at.count * k * k; i += kWarp) {
    const int row = i / k;
    const int group = row / k;
    to[i] = at.matrices[group * Group<T, N>::kMatrix + (row - group * k) * Group<T, N>::kStride +
                        i - row * k];
  }
}

// The lane's row of the input, zeros outside.
template <class T, int N>
__device__ void read_row(const Lane<T, N>& at, const SquareBatch<T>& batch, T (&x)[N]) {
  load_matrices<T, N>(at, batch.a, batch.k);
  __syncwarp();
  const T* row = at.own_row();
  const bool inside = at.active && at.row < batch.k;
#pragma unroll
  for (int c = 0; c < N; ++c) x[c] = inside && c < batch.k ? row[c] : T(0);
  __syncwarp();
}

// All N numbers of a row of shared memory.
template <class T, int N>
__device__ void load_row(const T* row, T (&x)[N]) {
  if constexpr (sizeof(T) == sizeof(float)) {
#pragma unroll
    for (int i = 0; i < N / 4; ++i) {
      const float4 four = reinterpret_cast<const float4*>(row)[i];
      x[4 * i] = four.x;
      x[4 * i + 1] = four.y;
      x[4 * i + 2] = four.z;
      x[4 * i + 3] = four.w;
    }
    if constexpr (N % 4 == 2) {
      const float2 two = reinterpret_cast<const float2*>(row)[N / 2 - 1];
      x[N - 2] = two.x;
      x[N - 1] = two.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = row[i];
  }
}
template <class T, int N>
__device__ void store_row(T* row, const T (&x)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) row[i] = x[i];
}

template <class T, int N>
__device__ void permute(T (&x)[N]) {
  T moved[N];
#pragma unroll
  for (int s = 0; s < N; ++s) moved[next_slot(s, N)] = x[s];
#pragma unroll
  for (int s = 0; s < N; ++s) x[s] = moved[s];
}

// Rotates the columns of pair j and puts them into their next slots.
template <class T, int N>
__device__ void rotate_into(const T (&x)[N], T (&moved)[N], int j, T s, T tau) {
  using Ops = ScalarOps<T>;
  moved[next_slot(2 * j, N)] = rotated_first<Ops>(x[2 * j], x[2 * j + 1], s, tau);
  moved[next_slot(2 * j + 1, N)] = rotated_second<Ops>(x[2 * j], x[2 * j + 1], s, tau);
}

// The same in place for a row in shared memory: pair by pair, each moves into slots of the pair
// before and after it.
template <class T, int N>
__device__ void rotate_shared(T* row, const Turn<T>* turns) {
  using Ops = ScalarOps<T>;
  T top = row[0];
#pragma unroll
  for (int j = 0; j < N / 2; ++j) {
    const T bottom = row[2 * j + 1], next_top = 2 * j + 2 < N ? row[2 * j + 2] : T(0);
    row[next_slot(2 * j, N)] = rotated_first<Ops>(top, bottom, turns[j].left_s, turns[j].left_tau);
    row[next_slot(2 * j + 1, N)] =
        rotated_second<Ops>(top, bottom, turns[j].left_s, turns[j].left_tau);
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

// The rows of A, U and V of a lane; with kSharedU that of U is the lane's own row of shared memory.
template <class T, int N>
struct Rows {
  T x[N], u[N], v[N];
};

// One step of a sweep: all pairs at once. Says whether this lane's pair was not diagonal.
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
  const bool turn = at.active && needs_rotation<Ops>(a, b, c, d, norm);
  if (!__any_sync(~0u, turn)) {
    permute(rows.x);
    if constexpr (vectors) {
      permute(rows.v);
      if constexpr (!kSharedU<T, N>) permute(rows.u);
      if (kSharedU<T, N> && at.in_group) permute_shared<T, N>(at.own_row());
    }
    return false;
  }
  TwoSided<Ops> r = two_sided_rotation<Ops>(a, b, c, d);
  if (!turn) r = {{T(0), T(0)}, {T(0), T(0)}};
  // Two sets in turn: a lane may still read those of the step before.
  Turn<T>* turns = at.turns + (parity * G::kGroups + at.group) * G::kPairs;
  parity ^= 1;
  if (at.in_group && !second) turns[meeting.pair] = {r.left.s, r.left.tau, r.right.s, r.right.tau};
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
    const Turn<T> t = turns[j];
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
  if (vectors && kSharedU<T, N> && at.in_group) rotate_shared<T, N>(at.own_row(), turns);
  return turn;
}

// Sweeps from number `sweep` on, until one finds all blocks of the warp's matrices diagonal, or to
// `end`. `sweeps` becomes the number of the group's last sweep that rotated.
template <class T, int N, bool vectors>
__device__ void sweep_until(const Lane<T, N>& at, int sweep, int end, T norm, Rows<T, N>& rows,
                            int& sweeps) {
  constexpr int ring = N - 1;
  int parity = 0;
#pragma unroll 1
  for (; sweep < end; ++sweep) {
    bool turned = false;
    int place = at.row == 0 ? 0 : ring_place(at.row, N), back = 0;
#pragma unroll 1
    for (int step = 0; step < ring; ++step) {
      const Meeting meeting = meeting_at(at.row, place, back, N);
      turned |= rotate_pairs<T, N, vectors>(at, meeting, norm, parity, rows);
      place = place + 1 == ring ? 0 : place + 1;
      back = back == 0 ? ring - 1 : back - 1;
    }
    const unsigned bits = __ballot_sync(~0u, turned);
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

// Orthonormal U and V again, and x = U^T A V from the input.
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

// A matrix by columns of rank `place`, with a sign, out through shared memory. `code` holds the
// lane's own column's place, and 256 where its sign turns.
template <class T, int N>
__device__ void write_vectors(const Lane<T, N>& at, const T (&m)[N], int code, bool signs,
                              bool finite, T* to, int k) {
  T* row = at.own_row();
#pragma unroll
  for (int c = 0; c < N; ++c) {
    const int column = __shfl_sync(~0u, code, at.base + c);
    const T value = signs && column >= 256 ? -m[c] : m[c];
    // + 0: no negative zeros, whose sign a rotation by nothing may change.
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
  // A look first: few raise it.
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
