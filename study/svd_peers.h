// SPDX-License-Identifier: Apache-2.0
// The SVD of a batch of square matrices by other libraries, host to host: Eigen, matrix by matrix
// on one thread, and cuSOLVER if the machine has it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "cornea/core/context.h"

namespace cornea::study {

// U, S and V of `count` row-major n x n matrices. Eigen's BDCSVD, which uses JacobiSVD up to 16 x
// 16.
void eigen_svd(int n, int count, std::span<const float> a, std::span<float> u, std::span<float> s,
               std::span<float> v);

// gesvdjBatched, for up to 32 x 32. The library is loaded at run time, so that the program does not
// depend on it.
class CuSolverSvd {
 public:
  static constexpr int kMost = 32;
  // Null if it cannot be loaded; `why` then holds the reason.
  static std::unique_ptr<CuSolverSvd> load(const Context& cuda, std::string& why);
  virtual ~CuSolverSvd() = default;
  // Matrices are column-major: for row-major input this decomposes the transpose, in the same time.
  virtual void compute(int n, int count, std::span<const float> a, std::span<float> u,
                       std::span<float> s, std::span<float> v) = 0;
};

}  // namespace cornea::study
