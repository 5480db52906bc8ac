// SPDX-License-Identifier: Apache-2.0
#include "cornea/linalg/svd/tall_qr_kernels.h"

namespace cornea::svd {
namespace {

using namespace core;

// A single warp is fastest for up to about 30 numbers per lane, because it needs no synchronisation
// with other warps.
int threads_for(int tall, int k) {
  const long long size = static_cast<long long>(tall) * k;
  return size <= 1024 ? 32 : size <= 8192 ? 128 : size <= 65536 ? 256 : 512;
}

}  // namespace

template <class T>
void enqueue_qr(const Context& context, const TallBatch<T>& batch) {
  qr_kernel<<<batch.count, threads_for(batch.tall, batch.k), 0, cuda_stream(context)>>>(batch);
  cuda_check_launch("qr_kernel");
}

template <class T>
void enqueue_apply_q(const Context& context, const TallBatch<T>& batch, const Core<T>& core,
                     T* product, T* left) {
  apply_q_kernel<<<batch.count, threads_for(batch.tall, batch.k), 0, cuda_stream(context)>>>(
      batch, core, product, left);
  cuda_check_launch("apply_q_kernel");
}

template void enqueue_qr(const Context&, const TallBatch<float>&);
template void enqueue_qr(const Context&, const TallBatch<double>&);
template void enqueue_apply_q(const Context&, const TallBatch<float>&, const Core<float>&, float*,
                              float*);
template void enqueue_apply_q(const Context&, const TallBatch<double>&, const Core<double>&,
                              double*, double*);

}  // namespace cornea::svd
