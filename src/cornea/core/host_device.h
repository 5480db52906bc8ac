// Marks a function that both the CPU compiler and nvcc see: formulas are written once.
#pragma once

#ifdef __CUDACC__
#define CORNEA_HD __host__ __device__
#else
#define CORNEA_HD
#endif

// Before a loop whose arrays should live in registers on the device.
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
