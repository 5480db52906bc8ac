// Other libraries' SVD of a batch of square matrices, host to host: Eigen, matrix by matrix on one
// thread, and cuSOLVER where the machine has it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "cornea/core/context.h"

namespace cornea::study {

// U, S and V of `count` row-major n x n matrices. Eigen's BDCSVD, which up to 16 x 16 is its
// JacobiSVD.
void eigen_svd(int n, int count, std::span<const float> a, std::span<float> u, std::span<float> s,
               std::span<float> v);

// gesvdjBatched, for up to 32 x 32. The library is looked for when the program runs, so that the
// program does not need it.
class CuSolverSvd {
 public:
  static constexpr int kMost = 32;
  // Null where it cannot be had; `why` then says the reason.
  static std::unique_ptr<CuSolverSvd> load(const Context& cuda, std::string& why);
  virtual ~CuSolverSvd() = default;
  // Matrices by columns: of row-major ones the decomposition of the transposed, in the same time.
  virtual void compute(int n, int count, std::span<const float> a, std::span<float> u,
                       std::span<float> s, std::span<float> v) = 0;
};

}  // namespace cornea::study
