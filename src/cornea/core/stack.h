// SPDX-License-Identifier: Apache-2.0
// For .cu files: images of one size that are stacked vertically in memory.
#pragma once

#include "cornea/core/image.h"

namespace cornea::core {

template <class T>
__device__ DeviceView<T> frame_of(DeviceView<T> first, int frame) {
  return {first.data + frame * (first.stride * first.height), first.width, first.height,
          first.stride};
}

}  // namespace cornea::core
