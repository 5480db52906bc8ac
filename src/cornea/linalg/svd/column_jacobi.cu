// SPDX-License-Identifier: Apache-2.0
#include "cornea/linalg/svd/column_jacobi_kernels.h"

namespace cornea::svd {

using namespace core;

template <class T>
void enqueue_column_jacobi(const Context& context, const ColumnBatch<T>& batch) {
  // A step has k / 2 pairs, one per warp; with more than 16 warps synchronisation costs more than
  // it gains.
  const int threads = batch.k <= 64 ? 256 : 512;
  column_jacobi_kernel<<<batch.count, threads, 0, cuda_stream(context)>>>(batch);
  cuda_check_launch("column_jacobi_kernel");
}

template void enqueue_column_jacobi(const Context&, const ColumnBatch<float>&);
template void enqueue_column_jacobi(const Context&, const ColumnBatch<double>&);

}  // namespace cornea::svd
