// SPDX-License-Identifier: Apache-2.0
#include "cornea/linalg/svd/kogbetliantz_launch.h"

namespace cornea::svd {

void enqueue_kogbetliantz(const Context& context, const SquareBatch<float>& batch) {
  enqueue_by_size<float>(context, batch);
}

}  // namespace cornea::svd
