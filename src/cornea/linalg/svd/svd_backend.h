// SPDX-License-Identifier: Apache-2.0
// The interface of the CPU and CUDA backends, internal to Svd.
#pragma once

#include <memory>

#include "cornea/core/context.h"
#include "cornea/linalg/svd/svd.h"

namespace cornea::svd {

class SvdBackend {
 public:
  virtual ~SvdBackend() = default;
  // The shape has been checked; null pointers skip results. `place` is where all arrays are. With
  // host data the results are ready on return.
  virtual void run(const SvdShape& shape, const float* a, float* u, float* s, float* v,
                   Place place) = 0;
  virtual void run(const SvdShape& shape, const double* a, double* u, double* s, double* v,
                   Place place) = 0;
  virtual SvdReport report() = 0;
  virtual Place place() const = 0;  // where the context's own data is
};

// Only in builds with CUDA.
std::unique_ptr<SvdBackend> make_device_svd(const Context& context, const SvdOptions& options);

}  // namespace cornea::svd
