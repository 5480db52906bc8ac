// SPDX-License-Identifier: Apache-2.0
#include "cornea/linalg/svd/column_jacobi_kernels.h"

namespace cornea::svd {

using namespace core;

template <class T>
void enqueue_column_jacobi(const Context& context, const ColumnBatch<T>& batch) {
  // Warps for the k / 2 pairs of a step; more than 16 wait longer for each other than they gain.
  const int threads = batch.k <= 64 ? 256 : 512;
  column_jacobi_kernel<<<batch.count, threads, 0, cuda_stream(context)>>>(batch);
  cuda_check_launch("column_jacobi_kernel");
}

template void enqueue_column_jacobi(const Context&, const ColumnBatch<float>&);
template void enqueue_column_jacobi(const Context&, const ColumnBatch<double>&);

}  // namespace cornea::svd
