// SPDX-License-Identifier: Apache-2.0
// CORNEA_HD marks functions that are compiled for the host and for the device, so that each formula
// is written once.
#pragma once

#ifdef __CUDACC__
#define CORNEA_HD __host__ __device__
#else
#define CORNEA_HD
#endif

// Unrolls a loop on the device, so that arrays indexed in it can live in registers.
#ifdef __CUDA_ARCH__
#define CORNEA_UNROLL _Pragma("unroll")
#else
#define CORNEA_UNROLL
#endif

namespace cornea::core {

template <class Integer>
CORNEA_HD constexpr Integer divide_up(Integer a, Integer b) {
  return a / b + (a % b != 0);
}

}  // namespace cornea::core
