// SPDX-License-Identifier: Apache-2.0
#include "cornea/linalg/svd/kogbetliantz_launch.h"

namespace cornea::svd {

void enqueue_kogbetliantz(const Context& context, const SquareBatch<double>& batch) {
  enqueue_by_size<double>(context, batch);
}

}  // namespace cornea::svd
