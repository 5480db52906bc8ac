// SPDX-License-Identifier: Apache-2.0
// The CPU's two algorithms, internal to Svd.
#pragma once

#include <cstddef>

#include "cornea/core/isa.h"
#include "cornea/linalg/svd/svd.h"
#include "cornea/linalg/svd/svd_math.h"

namespace cornea::svd {

// A batch in host memory; results that are not wanted are null. A matrix with fewer rows than
// columns is treated as its transpose, with U and V exchanged.
template <class T>
struct HostBatch {
  HostBatch(const SvdShape& shape, const T* a, T* u, T* s, T* v)
      : tall(shape.rows < shape.cols ? shape.cols : shape.rows),
        k(shape.rank()),
        count(shape.count),
        transposed(shape.rows < shape.cols),
        a(a),
        s(s),
        left(transposed ? v : u),
        right(transposed ? u : v) {}

  std::size_t size() const { return std::size_t(tall) * k; }
  // Entry (i, j) of the tall matrix with this index.
  T entry(std::size_t matrix, int i, int j) const {
    return a[matrix * size() + (transposed ? std::size_t(j) * tall + i : std::size_t(i) * k + j)];
  }

  int tall, k, count;
  bool transposed;
  const T* a;
  T *s, *left, *right;  // left: tall x k, right: k x k
};

// The outcome for one matrix.
struct Outcome {
  int sweeps = 0;
  bool converged = true, finite = true;
};

// Fills all results of a matrix that is not finite with NaN.
template <class T>
void fill_not_a_number(const HostBatch<T>& batch, std::size_t matrix) {
  const T nan = kNotANumber<T>;
  const std::size_t k = batch.k;
  for (std::size_t i = 0; batch.s && i < k; ++i) batch.s[matrix * k + i] = nan;
  for (std::size_t i = 0; batch.left && i < batch.size(); ++i) {
    batch.left[matrix * batch.size() + i] = nan;
  }
  for (std::size_t i = 0; batch.right && i < k * k; ++i) batch.right[matrix * k * k + i] = nan;
}

inline void count(SvdReport& report, const Outcome& outcome, int matrix) {
  if (outcome.sweeps > report.most_sweeps) report.most_sweeps = outcome.sweeps;
  report.not_converged += !outcome.converged;
  if (!outcome.finite && report.not_finite++ == 0) report.first_not_finite = matrix;
}

// Matrices begin <= i < end of a batch with k <= kMostSmall.
CORNEA_PER_ISA(void, host_small_svd,
               (const HostBatch<float>& batch, int begin, int end, int max_sweeps,
                SvdReport& report),
               (batch, begin, end, max_sweeps, report))
CORNEA_PER_ISA(void, host_small_svd,
               (const HostBatch<double>& batch, int begin, int end, int max_sweeps,
                SvdReport& report),
               (batch, begin, end, max_sweeps, report))

// One matrix of any size.
CORNEA_PER_ISA(void, host_large_svd,
               (const HostBatch<float>& batch, int matrix, int max_sweeps, SvdReport& report),
               (batch, matrix, max_sweeps, report))
CORNEA_PER_ISA(void, host_large_svd,
               (const HostBatch<double>& batch, int matrix, int max_sweeps, SvdReport& report),
               (batch, matrix, max_sweeps, report))

}  // namespace cornea::svd
