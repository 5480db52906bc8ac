// SPDX-License-Identifier: Apache-2.0
// Scratch memory that grows to the largest size requested and is then reused: after the first call
// at a given size nothing is allocated.
#pragma once

#include "cornea/core/context.h"

namespace cornea::core {

class Buffer {
 public:
  Buffer(Place place, const char* purpose) : place_(place), purpose_(purpose) {}

  // Makes room for `count` items. The contents are lost if the buffer has to grow.
  template <class T>
  T* reserve(const Context& context, std::size_t count) {
    return static_cast<T*>(reserve_bytes(context, count * sizeof(T)));
  }
  void* reserve_bytes(const Context& context, std::size_t bytes) {
    if (bytes > memory_.bytes()) {
      memory_ = Memory();  // frees the old block before the new one is allocated
      memory_ = context.allocate(place_, bytes, purpose_);
    }
    return memory_.data();
  }
  template <class T>
  T* data() const {
    return static_cast<T*>(memory_.data());
  }

 private:
  Place place_;
  const char* purpose_;
  Memory memory_;
};

}  // namespace cornea::core
