// SPDX-License-Identifier: Apache-2.0
// For .cu files only: chooses the kernel for a size.
#pragma once

#include "cornea/linalg/svd/kogbetliantz.h"

namespace cornea::svd {

template <class T, int N, bool vectors>
void launch_kogbetliantz(const Context& context, const SquareBatch<T>& batch) {
  constexpr int kWarps = kSmallThreads / core::kWarp;
  constexpr std::size_t kBytes = kWarps * Group<T, N>::kWarpBytes;
  static_assert(kBytes <= 48 * 1024, "what every device has");
  const int blocks = core::divide_up(batch.count, kWarps * Group<T, N>::kGroups);
  kogbetliantz_kernel<T, N, vectors>
      <<<blocks, kSmallThreads, kBytes, core::cuda_stream(context)>>>(batch);
  core::cuda_check_launch("kogbetliantz_kernel");
}

template <class T, int N = 2>
void enqueue_by_size(const Context& context, const SquareBatch<T>& batch) {
  if (batch.k <= N) {
    if (batch.u != nullptr || batch.v != nullptr) {
      launch_kogbetliantz<T, N, true>(context, batch);
    } else {
      launch_kogbetliantz<T, N, false>(context, batch);
    }
  } else if constexpr (N < kMostSmall) {
    enqueue_by_size<T, N + 2>(context, batch);
  }
}

}  // namespace cornea::svd
