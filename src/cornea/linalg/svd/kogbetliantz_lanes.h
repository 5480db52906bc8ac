// SPDX-License-Identifier: Apache-2.0
// For .cu files only: the lanes of the Kogbetliantz kernel, and the transfer of rows between the
// batch, shared memory and registers.
//
// Each matrix has a group of N lanes of a warp (N: its size rounded up to an even number); a warp
// holds as many groups as fit. Lane r holds row r of A, U and V.
#pragma once

#include "cornea/core/cuda.h"
#include "cornea/core/warp.h"
#include "cornea/linalg/svd/device_svd.h"
#include "cornea/linalg/svd/svd_math.h"

namespace cornea::svd {

inline constexpr int kSmallThreads = 128;  // four independent warps
// Minimum blocks per multiprocessor, which limits the registers where they would limit occupancy.
template <class T, int N>
inline constexpr int kSmallBlocks = sizeof(T) == sizeof(float) ? (N > 16   ? 3
                                                                  : N > 10 ? 4
                                                                           : 5)
                                                               : (N > 10 ? 2 : 3);
// True if rows of A, U and V do not fit into registers; the row of U is then in shared memory.
template <class T, int N>
inline constexpr bool kSharedU = sizeof(T) == sizeof(double) && N > 24;

template <class T>
struct alignas(16) Rotations {
  T left_s, left_tau, right_s, right_tau;
};

template <class T, int N>
struct Group {
  static constexpr int kGroups = core::kWarp / N;  // matrices per warp
  static constexpr int kPairs = N / 2;
  // Distance between rows of a matrix in shared memory, in numbers: an odd multiple of 4, so that
  // lanes that read four numbers of their rows access different banks.
  static constexpr int kStride = (N + 3) / 4 % 2 == 1 ? (N + 3) / 4 * 4 : (N + 3) / 4 * 4 + 4;
  static constexpr int kMatrix = N * kStride;
  static constexpr int kRotations = 2 * kGroups * kPairs;  // of this step and the one before
  static constexpr std::size_t kWarpBytes =
      kRotations * sizeof(Rotations<T>) + kGroups * kMatrix * sizeof(T);
};

__device__ inline unsigned char* block_memory() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return bytes;
}

// The position of a lane: its group, its row and its matrix.
template <class T, int N>
struct Lane {
  using G = Group<T, N>;

  __device__ explicit Lane(const SquareBatch<T>& batch)
      : lane(threadIdx.x % core::kWarp),
        in_group(lane < G::kGroups * N),
        group(in_group ? lane / N : 0),
        row(in_group ? lane % N : 0),
        base(group * N) {
    const int warp = threadIdx.x / core::kWarp;
    unsigned char* memory = block_memory() + warp * G::kWarpBytes;
    rotations = reinterpret_cast<Rotations<T>*>(memory);
    matrices = reinterpret_cast<T*>(memory + G::kRotations * sizeof(Rotations<T>));
    first =
        (static_cast<long long>(blockIdx.x) * (kSmallThreads / core::kWarp) + warp) * G::kGroups;
    const long long left = batch.count - first;
    count = left < 0 ? 0 : left < G::kGroups ? static_cast<int>(left) : G::kGroups;
    active = in_group && group < count;
  }
  __device__ unsigned group_bits() const {
    return (N == core::kWarp ? ~0u : (1u << (N % core::kWarp)) - 1) << base;
  }
  __device__ T* matrix() const { return matrices + group * G::kMatrix; }
  __device__ T* own_row() const { return matrix() + row * G::kStride; }
  // The value that another row's lane of the group holds.
  __device__ T from(T value, int other_row) const {
    return __shfl_sync(~0u, value, base + other_row);
  }

  int lane;
  bool in_group;  // the last lanes of a warp may have no group; they repeat group 0
  int group, row, base;
  Rotations<T>* rotations;
  T* matrices;
  long long first;  // matrix of group 0
  int count;        // matrices of this warp
  bool active;      // has a matrix
};

// Copy between the batch, where the warp's matrices are contiguous, and shared memory.
template <class T, int N>
__device__ void load_matrices(const Lane<T, N>& at, const T* from, int k) {
  from += at.first * k * k;
  for (int i = at.lane; i < at.count * k * k; i += core::kWarp) {
    const int row = i / k;
    const int group = row / k;
    at.matrices[group * Group<T, N>::kMatrix + (row - group * k) * Group<T, N>::kStride + i -
                row * k] = from[i];
  }
}
template <class T, int N>
__device__ void store_matrices(const Lane<T, N>& at, T* to, int k) {
  to += at.first * k * k;
  for (int i = at.lane; i < at.count * k * k; i += core::kWarp) {
    const int row = i / k;
    const int group = row / k;
    to[i] = at.matrices[group * Group<T, N>::kMatrix + (row - group * k) * Group<T, N>::kStride +
                        i - row * k];
  }
}

// The lane's row of the input, zeros outside the matrix.
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

// Reads all N numbers of a row in shared memory.
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

}  // namespace cornea::svd
