// SPDX-License-Identifier: Apache-2.0
// Singular value decomposition of batches of matrices: A = U diag(S) V^T.
//
// A is m x n of any shape, float or double. U is m x k, S has k values in descending order, V is
// n x k, k = min(m, n) (the thin decomposition). Matrices are row-major and stored one after
// the other.
//
// Smaller side k <= 32: two-sided rotations (E. Kogbetliantz 1955; G. Forsythe and P. Henrici
// 1960). In each 2 x 2 block on the diagonal of a k x k matrix, one rotation from the left and one
// from the right make the two off-diagonal entries zero, which reduces the sum of squared
// off-diagonal entries of the matrix by exactly their squares. All k / 2 disjoint blocks of a step
// rotate at once, in the order of R. Brent, F. Luk and C. Van Loan, "Computation of the singular
// value decomposition using mesh-connected processors", Journal of VLSI and Computer Systems 1,
// 1985: a sweep of k - 1 steps visits all pairs. A matrix that is not square is first reduced to a
// triangle (Householder QR).
//
// Larger matrices: QR with column pivoting, then one-sided rotations of the columns of R^T (M.
// Hestenes 1958; Z. Drmac and K. Veselic, "New fast and accurate Jacobi SVD algorithm", 2008).
//
// Cost: 4 to 9 sweeps of 8 k^3 fused multiply-adds (two-sided). On the CPU, small matrices
// are processed side by side in vector registers; on CUDA, a small matrix has one thread per row
// and a large matrix one block. Both backends follow svd_math.h; they differ in the last bits, and
// so do large matrices on processors with vectors of other lengths (x86-64 and aarch64). A matrix's
// result does not depend on the other matrices of its batch, nor on the number of threads.
//
// Each matrix is first scaled by a power of two, so that no intermediate result over- or
// underflows. U and V are orthonormal even for a matrix of less than full rank.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "cornea/core/context.h"
#include "cornea/core/export.h"

namespace cornea {

struct CORNEA_API SvdOptions {
  int max_sweeps = 40;  // 1 to 1000; see SvdReport::not_converged

  void validate() const;
};

struct SvdShape {
  int rows = 0, cols = 0;  // of every matrix; if one is 0, all results are empty
  int count = 0;           // matrices

  int rank() const { return rows < cols ? rows : cols; }  // k, the largest possible rank
};

// Statistics of the last call.
struct SvdReport {
  int most_sweeps = 0;        // of any matrix, not counting the final sweep, which rotates nothing
  int not_converged = 0;      // matrices that the last permitted sweep still rotated
  int not_finite = 0;         // matrices with a NaN or an infinity: all their results are NaN
  int first_not_finite = -1;  // index of the first of these; -1: none
};

namespace svd {
class SvdBackend;
}

// Keeps its scratch memory between calls and allocates nothing on the device after the first call
// of a size.
class CORNEA_API Svd {
 public:
  explicit Svd(const Context& context, const SvdOptions& options = {});
  ~Svd();
  Svd(Svd&&) noexcept;

  // Matrices in host memory, on a CPU or a CUDA context; the results are ready on return. `a` has
  // count * rows * cols numbers; u count * rows * k, s count * k, v count * cols * k. An empty span
  // skips a result and saves time. T: float or double. An input that is not finite is not an error:
  // see SvdReport.
  template <class T>
  void compute(const SvdShape& shape, std::span<const T> a, std::span<T> u, std::span<T> s,
               std::span<T> v);

  // The same for matrices in the memory of the context's device (on a CPU context: host memory),
  // queued on its stream. A null pointer skips a result. Results must not overlap the input.
  template <class T>
  void enqueue(const SvdShape& shape, const T* a, T* u, T* s, T* v);

  // The report of the last call. Waits for it.
  SvdReport report() const;

 private:
  std::unique_ptr<svd::SvdBackend> backend_;
};

}  // namespace cornea
