// SPDX-License-Identifier: Apache-2.0
// For .cu files only: checked CUDA calls.
#pragma once

#include <new>

#include <cuda_runtime.h>

#include "cornea/core/context.h"
#include "cornea/core/error.h"
#include "cornea/core/host_device.h"

namespace cornea::core {

inline void cuda_check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears errors that are not sticky, so that the context stays usable
  fail(status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::cuda, what, ": ",
       cudaGetErrorString(status));
}

// Called after every launch: reports an invalid launch configuration or an earlier asynchronous
// failure.
inline void cuda_check_launch(const char* kernel) { cuda_check(cudaGetLastError(), kernel); }

inline cudaStream_t cuda_stream(const Context& context) {
  return static_cast<cudaStream_t>(context.stream());
}

// Makes a device current on this thread for its lifetime and then restores the previous one, so
// that the caller's own CUDA code is not affected.
class DeviceGuard {
 public:
  explicit DeviceGuard(int index) : DeviceGuard(index, std::nothrow) {
    cuda_check(status_, "selecting the CUDA device");
  }
  // For destructors, and for devices that may not exist: an error is returned by status() instead
  // of thrown.
  DeviceGuard(int index, std::nothrow_t) noexcept {
    cudaGetDevice(&before_);
    if (before_ == index) return;
    status_ = cudaSetDevice(index);
    changed_ = status_ == cudaSuccess;
    if (!changed_) cudaGetLastError();
  }
  cudaError_t status() const { return status_; }
  explicit DeviceGuard(const Context& context) : DeviceGuard(context.cuda_index()) {}
  ~DeviceGuard() {
    if (changed_) cudaSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
  cudaError_t status_ = cudaSuccess;
};

}  // namespace cornea::core
