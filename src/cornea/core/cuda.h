// For .cu files only: checked CUDA calls and launch arithmetic.
#pragma once

#include <cuda_runtime.h>

#include "cornea/core/context.h"
#include "cornea/core/error.h"
#include "cornea/core/host_device.h"

namespace cornea {

inline void cuda_check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears what is not sticky, so that the context still works
  fail(status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::cuda, what, ": ",
       cudaGetErrorString(status));
}

// After every launch: reports a bad launch shape or an earlier asynchronous failure.
inline void cuda_check_launch(const char* kernel) { cuda_check(cudaGetLastError(), kernel); }

inline cudaStream_t cuda_stream(const Context& context) {
  return static_cast<cudaStream_t>(context.stream());
}

// A kernel launch needs the context's device to be current on this thread.
inline void make_current(const Context& context) {
  cuda_check(cudaSetDevice(context.cuda_index()), "selecting the CUDA device");
}

template <class Integer>
CORNEA_HD constexpr Integer divide_up(Integer a, Integer b) {
  return (a + b - 1) / b;
}

}  // namespace cornea
