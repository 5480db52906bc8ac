// SPDX-License-Identifier: Apache-2.0
// Null vectors of 8 x 9 systems by Householder reflections, as the estimator of F computes them,
// for comparison with a batched SVD.
#pragma once

#include <span>
#include <vector>

#include "cornea/core/context.h"

namespace cornea::study {

inline constexpr int kSystemFloats = 72;  // 8 rows of 9

// On the context's threads, as many systems at a time as a vector register has lanes.
void host_null_vectors(const Context& cpu, std::span<const float> systems, std::span<float> out);

// On CUDA with one thread per system, in device memory, queued on the stream. Defined in
// null_vectors.cu.
void device_null_vectors(const Context& cuda, const float* systems, float* out, int count);

}  // namespace cornea::study
