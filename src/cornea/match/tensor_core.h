// SPDX-License-Identifier: Apache-2.0
// For .cu files only: byte products on tensor cores, and asynchronous copies into shared memory.
// From Ampere on each is one instruction; Turing (compute capability 7.5) composes the same product
// from smaller instructions and copies through registers.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace cornea::match {

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// Loads four matrices of 8 x 16 bytes (ldmatrix). Lane l passes the address of row l % 8 of matrix
// l / 8, and receives bytes 4 (l % 4) .. 4 (l % 4) + 3 of row l / 4 of each.
__device__ inline void load_matrices(std::uint32_t (&to)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

// sums += a (16 rows x 32 bytes) * b (32 bytes x 8 columns). Lane l holds: of a, bytes 4 (l % 4) ..
// 4 (l % 4) + 3 of row l / 4, the same of row l / 4 + 8, and both again 16 bytes further; of b, the
// same bytes of column l / 4, and again 16 bytes further; of the sums, columns 2 (l % 4) + {0, 1}
// of row l / 4, and of row l / 4 + 8.
__device__ inline void multiply_bytes(std::int32_t (&sums)[4], const std::uint32_t (&a)[4],
                                      std::uint32_t b0, std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  auto multiply_half = [](std::int32_t& s0, std::int32_t& s1, std::uint32_t a, std::uint32_t b) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(s0), "+r"(s1)
        : "r"(a), "r"(b));
  };
  multiply_half(sums[0], sums[1], a[0], b0);
  multiply_half(sums[2], sums[3], a[1], b0);
  multiply_half(sums[0], sums[1], a[2], b1);
  multiply_half(sums[2], sums[3], a[3], b1);
#endif
}

// Starts a copy from global to shared memory. If there is nothing to copy, it writes zeros and
// reads no byte.
template <int bytes>
__device__ inline void begin_copy(void* to, const void* from, bool any) {
  static_assert(bytes == 4 || bytes == 16);
#if __CUDA_ARCH__ >= 800
  const int size = any ? bytes : 0;
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(size)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(size)
                 : "memory");
  }
#else
  if constexpr (bytes == 16) {
    *static_cast<uint4*>(to) = any ? *static_cast<const uint4*>(from) : uint4{0, 0, 0, 0};
  } else {
    *static_cast<std::uint32_t*>(to) = any ? *static_cast<const std::uint32_t*>(from) : 0;
  }
#endif
}

// Closes the group of copies started so far.
__device__ inline void end_copy_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most `groups` groups of this thread are in flight.
template <int groups>
__device__ inline void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

}  // namespace cornea::match
