// SPDX-License-Identifier: Apache-2.0
#include "study/null_vectors.h"

#include "cornea/core/cuda.h"
#include "cornea/geometry/algebra/reflections.h"

namespace cornea::study {
namespace {

constexpr int kThreads = 128;  // as in the estimator: the 72 numbers of a system fit the registers

__global__ void __launch_bounds__(kThreads)
    null_vectors_kernel(const float* systems, float* out, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  geometry::Reflections<8, float> system;
#pragma unroll
  for (int k = 0; k < kSystemFloats; ++k) {
    system.v[k / 9][k % 9] = systems[std::size_t(i) * kSystemFloats + k];
  }
  system.factorise();
  const geometry::Matrix3<float> f = system.null_vector(8);
#pragma unroll
  for (int k = 0; k < 9; ++k) out[std::size_t(i) * 9 + k] = f.v[k];
}

}  // namespace

void device_null_vectors(const Context& cuda, const float* systems, float* out, int count) {
  if (count <= 0) return;
  const core::DeviceGuard guard(cuda);
  null_vectors_kernel<<<(count + kThreads - 1) / kThreads, kThreads, 0, core::cuda_stream(cuda)>>>(
      systems, out, count);
  core::cuda_check_launch("null_vectors_kernel");
}

}  // namespace cornea::study
