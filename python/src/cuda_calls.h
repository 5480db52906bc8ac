// SPDX-License-Identifier: Apache-2.0
// The few calls of the CUDA runtime that arrays on a device need: streams that wait for one
// another. In builds without CUDA each of them throws.
#pragma once

#include <cstdint>
#include <memory>

#include "cornea/core/context.h"

namespace cornea::python {

// A cudaStream_t as Python passes it. As in DLPack, 1 is the legacy default stream and 2 the
// per-thread default stream; 0 is treated as 1.
using StreamHandle = std::intptr_t;

StreamHandle stream_handle(const Context& context);
// The cudaStream_t of a handle.
void* stream_of(StreamHandle handle);

// Makes the context's stream wait for all work queued on the other stream so far.
void wait_for(const Context& context, StreamHandle other);

// Makes the calling thread wait for all work queued on the context's device, on any stream.
void wait_for_device(const Context& context);

// The device that owns this memory.
int device_of(const void* memory);

// An event on the context's stream, after the work queued so far.
class Mark {
 public:
  Mark() = default;
  explicit Mark(const Context& context);
  void make_wait(StreamHandle stream) const;  // makes that stream wait for the event
  void wait() const;                          // makes the calling thread wait
 private:
  std::shared_ptr<void> event_;
  int device_ = 0;
};

}  // namespace cornea::python
